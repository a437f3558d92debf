/// The kinds of events in the journal, each with the `MESSAGE_ID` that finds all of its kind.
///
/// They are listed in killswitchd(8) and explained in the message catalog, and never change.
package enum MessageID: String, CaseIterable, Sendable {
    case decided = "5fcfbfe15f554b1a8a22afdb89d33e39"
    case sourceFailed = "58025f49994a49c4872cbe2e99833e09"
    case sourceRecovered = "cb1943ee68c34998ae0e96a041f775c1"
    case sourceUnwatched = "a3c1c6f0b2f84e0e9d0b9f5f7f0c2d14"
    case sourceDoubted = "179acba2080b4d96b3a37ff2219b5a54"
    case flagVanished = "c77bc91583ed4c9b94c5eac3d988c9a0"
    case answerInvalid = "368aa0f627d449838b1d842c654e99eb"
    case endUnreadable = "4495e41b3ee940239c06253b15fa5f77"
    case versionUnknown = "4e915cca8b1c4efe891cb41f1d2f33b2"
    case valueInvalid = "1c0a26b92ad04b519554f58cc7bbc83d"
    case recordFailed = "f4dd403cdbdc4ec5bfc58b869206a15d"
    case recordsRecovered = "fe0041a9df6e4b339c93d74b1b932387"
    case overridden = "8ede5f097b4d448884ae3038e0f6f507"
    case released = "acf7d6873a124dbb9c1b452a1a55e778"
    case overrideExpired = "2910d5a2e01d4f11b5df37a5d869f190"
    case forgotten = "e8876fc6340945a895d333c6de2819ca"
    case controlUnavailable = "cdecff15bc2f4252bfdb96cc59b229fc"
    case configurationAccepted = "8ca5e2a6aa4649cf8e3890a44f543bb4"
    case configurationRefused = "7c095e244aa54c4ea28885bac56ab9d7"
    case configurationQuestionable = "18c6c69058104f7bb80d9101580f3943"
}
