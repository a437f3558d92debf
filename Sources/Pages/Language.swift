import CivilTime
import Decision

/// A language for the texts that the flags do not give, by its tag (BCP 47) in the configuration and in a page.
package enum Language: String, CaseIterable, Sendable {
    case english = "en"
    case japanese = "ja"
    case german = "de"
    case chineseOfTaiwan = "zh-TW"

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

    var phrases: Phrases {
        switch self {
        case .english: .english
        case .japanese: .japanese
        case .german: .german
        case .chineseOfTaiwan: .chineseOfTaiwan
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

        init(_ heading: String, _ sentence: String) {
            (self.heading, self.sentence) = (heading, sentence)
        }
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

    fileprivate static let english = Phrases(
        starting: Phrase(
            "One moment, please", "This service is starting. Please try again in a moment."),
        running: Phrase("This service is running", "There is nothing you need to do."),
        countdown: Phrase(
            "This service will end", "Thank you for using it. Please save what you need in time."),
        maintenance: Phrase(
            "Maintenance", "We are working on this service. Please come back later."),
        updateRequired: Phrase(
            "Update required", "This version can no longer be used. Please install the update."),
        ended: Phrase("This service has ended", "Thank you for using it."),
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
            "Einen Moment, bitte",
            "Dieser Dienst startet gerade. Bitte versuchen Sie es gleich noch einmal."),
        running: Phrase("Dieser Dienst läuft", "Sie müssen nichts tun."),
        countdown: Phrase(
            "Dieser Dienst wird eingestellt",
            "Danke, dass Sie ihn nutzen. Bitte sichern Sie rechtzeitig, was Sie brauchen."),
        maintenance: Phrase(
            "Wartungsarbeiten", "Wir arbeiten an diesem Dienst. Bitte kommen Sie später wieder."),
        updateRequired: Phrase(
            "Aktualisierung nötig",
            "Diese Version wird nicht mehr unterstützt. Bitte installieren Sie die neue."),
        ended: Phrase("Dieser Dienst wurde eingestellt", "Danke, dass Sie ihn genutzt haben."),
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
        starting: Phrase("しばらくお待ちください", "サービスを開始しています。少し待ってからもう一度お試しください。"),
        running: Phrase("サービスは稼働中です", "特にご対応いただくことはありません。"),
        countdown: Phrase("サービス終了のお知らせ", "ご利用ありがとうございます。必要なデータは終了までに保存してください。"),
        maintenance: Phrase("メンテナンス中", "ただいまメンテナンスを行っています。しばらくしてから再度アクセスしてください。"),
        updateRequired: Phrase("アップデートが必要です", "このバージョンはご利用いただけません。アップデートしてください。"),
        ended: Phrase("サービスは終了しました", "ご利用いただきありがとうございました。"),
        days: { $0 == 0 ? "本日が最終日です" : "残り\($0)日" },
        ends: "終了日時：", overAt: "終了予定：", endedAt: "終了日時：",
        planned: { "\($0)から\($1)までメンテナンスを予定しています。" },
        refresh: "このページは自動的に更新されます。")

    fileprivate static let chineseOfTaiwan = Phrases(
        starting: Phrase("請稍候", "服務正在啟動，請稍後再試。"),
        running: Phrase("服務運作中", "您不需要做任何事。"),
        countdown: Phrase("服務即將終止", "感謝您的使用。請在終止前保存您需要的資料。"),
        maintenance: Phrase("系統維護中", "我們正在維護此服務，請稍後再回來。"),
        updateRequired: Phrase("需要更新", "此版本已無法使用，請安裝更新版本。"),
        ended: Phrase("服務已終止", "感謝您的使用。"),
        days: { $0 == 0 ? "今天是最後一天" : "剩餘 \($0) 天" },
        ends: "終止時間：", overAt: "預計完成時間：", endedAt: "終止時間：",
        planned: { "預定於 \($0) 至 \($1) 進行維護。" },
        refresh: "本頁面會自動重新整理。")
}
