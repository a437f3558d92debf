/// The kinds of events in the journal, each with the `MESSAGE_ID` that finds all of its kind.
///
/// They are listed in killswitchd(8) and explained in the message catalog, and never change.
package enum MessageID: String, CaseIterable, Sendable {
    case decided = "5fcfbfe15f554b1a8a22afdb89d33e39"
    case sourceFailed = "58025f49994a49c4872cbe2e99833e09"
    case sourceRecovered = "cb1943ee68c34998ae0e96a041f775c1"
    case sourceUnwatched = "a3c1c6f0b2f84e0e9d0b9f5f7f0c2d14"
    case answerInvalid = "368aa0f627d449838b1d842c654e99eb"
    case endUnreadable = "4495e41b3ee940239c06253b15fa5f77"
    case versionUnknown = "4e915cca8b1c4efe891cb41f1d2f33b2"
    case valueInvalid = "1c0a26b92ad04b519554f58cc7bbc83d"
    case recordFailed = "f4dd403cdbdc4ec5bfc58b869206a15d"
    case recordsRecovered = "fe0041a9df6e4b339c93d74b1b932387"
    case gateMoved = "ca733bafdb32435fada8734d73b88268"
    case gateMoveFailed = "b417d3f83eed49f4bf458511ce4ff230"
    case gateMovedElsewhere = "144257383e3d45c183d5547b093dc6ba"
    case unitLate = "c41beed77b6a4a139962726f71c41e79"
    case unitKilled = "bf3b20113a2a4be0bf60a88dbf1be31d"
    case unitFailed = "218ba42eec3b4b6cadcd2cd4b4d7f60a"
    case unitIntruding = "18dd91b5dc694ff797a9517e10bf2dd7"
    case busLost = "60dabeda9b274935807e9e6f295f2f3c"
    case busRecovered = "982a356ed2cb4b1cb1254ad20aa93ada"
    case unitsOrphaned = "891932f36ddc4e3ca7bc5a117361bbcb"
    case closingHeld = "03387b91ad954050b4127492ccb96697"
    case configurationAccepted = "8ca5e2a6aa4649cf8e3890a44f543bb4"
    case configurationRefused = "7c095e244aa54c4ea28885bac56ab9d7"
    case configurationQuestionable = "18c6c69058104f7bb80d9101580f3943"
}
