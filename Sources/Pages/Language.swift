import CivilTime
import Decision

/// A language for the texts that the flags do not give. The raw value is its tag (BCP 47) in the configuration and in
/// a page.
package enum Language: String, CaseIterable, Sendable {
    case english = "en"
    case japanese = "ja"
    case german = "de"
    case chineseOfTaiwan = "zh-TW"
}

extension Language {
    /// A point in time for people, with the zone's offset from UTC.
    func text(of instant: Instant, in zone: Zone) -> String {
        let clock = zone.dateTime(at: instant)
        let date = clock.date
        // Hours and minutes.
        let time = clock.description.suffix(8).prefix(5)
        let offset = "(UTC\(zone.offset(at: instant)))"
        return switch self {
        case .english:
            "\(date.day) \(Self.englishMonths[date.month - 1]) \(date.year), \(time) \(offset)"
        case .german:
            "\(date.day). \(Self.germanMonths[date.month - 1]) \(date.year), \(time) Uhr \(offset)"
        case .japanese, .chineseOfTaiwan:
            "\(date.year)年\(date.month)月\(date.day)日 \(time) \(offset)"
        }
    }

    private static let englishMonths = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September",
        "October", "November", "December",
    ]
    private static let germanMonths = [
        "Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September",
        "Oktober", "November", "Dezember",
    ]
}

/// The texts of one language.
struct Phrases: Sendable {
    /// What is said of a service in one state.
    struct Phrase: Sendable {
        let heading: String
        let sentence: String
    }

    let starting: Phrase
    let running: Phrase
    let countdown: Phrase
    let maintenance: Phrase
    let updateRequired: Phrase
    let ended: Phrase
    /// The words for these days left. Never negative.
    let days: @Sendable (Int) -> String
    /// The label before the end of a countdown, before that of a maintenance, and before an end that has passed.
    let ends: String
    let overAt: String
    let endedAt: String
    /// That maintenance is planned, from and until when.
    let planned: @Sendable (String, String) -> String
    /// That the page loads itself again.
    let refresh: String

    /// The phrase for a state.
    func of(_ state: State) -> Phrase {
        switch state {
        case .undecided: starting
        case .running: running
        case .countdown: countdown
        case .maintenance: maintenance
        case .updateRequired: updateRequired
        case .ended: ended
        }
    }

    /// The label before the end that a state shows.
    func endLabel(of state: State) -> String {
        switch state {
        case .maintenance: overAt
        case .ended: endedAt
        case .undecided, .running, .countdown, .updateRequired: ends
        }
    }
}

extension Language {
    /// Its texts.
    var phrases: Phrases {
        switch self {
        case .english: .english
        case .japanese: .japanese
        case .german: .german
        case .chineseOfTaiwan: .chineseOfTaiwan
        }
    }
}

extension Phrases {
    fileprivate static let english = Phrases(
        starting: Phrase(
            heading: "One moment, please",
            sentence: "This service is starting. Please try again in a moment."),
        running: Phrase(
            heading: "This service is running", sentence: "There is nothing you need to do."),
        countdown: Phrase(
            heading: "This service will end",
            sentence: "Thank you for using it. Please save what you need in time."),
        maintenance: Phrase(
            heading: "Maintenance",
            sentence: "We are working on this service. Please come back later."),
        updateRequired: Phrase(
            heading: "Update required",
            sentence: "This version can no longer be used. Please install the update."),
        ended: Phrase(
            heading: "This service has ended", sentence: "Thank you for using it."),
        days: { days in
            switch days {
            case 0: "Today is the last day"
            case 1: "1 day left"
            default: "\(days) days left"
            }
        },
        ends: "Ends:", overAt: "Expected to be over:", endedAt: "Ended:",
        planned: { "Maintenance is planned from \($0) until \($1)." },
        refresh: "This page refreshes itself.")

    fileprivate static let german = Phrases(
        starting: Phrase(
            heading: "Einen Moment, bitte",
            sentence: "Dieser Dienst startet gerade. Bitte versuchen Sie es gleich noch einmal."),
        running: Phrase(heading: "Dieser Dienst läuft", sentence: "Sie müssen nichts tun."),
        countdown: Phrase(
            heading: "Dieser Dienst wird eingestellt",
            sentence: "Danke, dass Sie ihn nutzen. Bitte sichern Sie rechtzeitig, was Sie brauchen."
        ),
        maintenance: Phrase(
            heading: "Wartungsarbeiten",
            sentence: "Wir arbeiten an diesem Dienst. Bitte kommen Sie später wieder."),
        updateRequired: Phrase(
            heading: "Aktualisierung nötig",
            sentence: "Diese Version wird nicht mehr unterstützt. Bitte installieren Sie die neue."),
        ended: Phrase(
            heading: "Dieser Dienst wurde eingestellt",
            sentence: "Danke, dass Sie ihn genutzt haben."),
        days: { days in
            switch days {
            case 0: "Heute ist der letzte Tag"
            case 1: "Noch 1 Tag"
            default: "Noch \(days) Tage"
            }
        },
        ends: "Ende:", overAt: "Voraussichtliches Ende:", endedAt: "Eingestellt:",
        planned: { "Wartungsarbeiten sind geplant: von \($0) bis \($1)." },
        refresh: "Diese Seite aktualisiert sich selbst.")

    fileprivate static let japanese = Phrases(
        starting: Phrase(
            heading: "しばらくお待ちください",
            sentence: "サービスを開始しています。少し待ってからもう一度お試しください。"),
        running: Phrase(heading: "サービスは稼働中です", sentence: "特にご対応いただくことはありません。"),
        countdown: Phrase(
            heading: "サービス終了のお知らせ",
            sentence: "ご利用ありがとうございます。必要なデータは終了までに保存してください。"),
        maintenance: Phrase(
            heading: "メンテナンス中", sentence: "ただいまメンテナンスを行っています。しばらくしてから再度アクセスしてください。"),
        updateRequired: Phrase(
            heading: "アップデートが必要です",
            sentence: "このバージョンはご利用いただけません。アップデートしてください。"),
        ended: Phrase(
            heading: "サービスは終了しました", sentence: "ご利用いただきありがとうございました。"),
        days: { $0 == 0 ? "本日が最終日です" : "残り\($0)日" },
        ends: "終了日時：", overAt: "終了予定：", endedAt: "終了日時：",
        planned: { "\($0)から\($1)までメンテナンスを予定しています。" },
        refresh: "このページは自動的に更新されます。")

    fileprivate static let chineseOfTaiwan = Phrases(
        starting: Phrase(heading: "請稍候", sentence: "服務正在啟動，請稍後再試。"),
        running: Phrase(heading: "服務運作中", sentence: "您不需要做任何事。"),
        countdown: Phrase(
            heading: "服務即將終止", sentence: "感謝您的使用。請在終止前保存您需要的資料。"),
        maintenance: Phrase(heading: "系統維護中", sentence: "我們正在維護此服務，請稍後再回來。"),
        updateRequired: Phrase(
            heading: "需要更新", sentence: "此版本已無法使用，請安裝更新版本。"),
        ended: Phrase(heading: "服務已終止", sentence: "感謝您的使用。"),
        days: { $0 == 0 ? "今天是最後一天" : "剩餘 \($0) 天" },
        ends: "終止時間：", overAt: "預計完成時間：", endedAt: "終止時間：",
        planned: { "預定於 \($0) 至 \($1) 進行維護。" },
        refresh: "本頁面會自動重新整理。")
}
