import Decision

/// The format `maintenance`: one Boolean and two texts.
extension FormatTests {
    private static let parameter = Format.maintenance(.memberOrWhole("server_maintenance_config"))

    static let maintenance: [Case] = [
        Case(
            "Japanese texts", parameter,
            #"{"isUnderMaintenance":true,"title":"メンテナンス中","message":"しばらくお待ちください。"}"#,
            "maintenance title=メンテナンス中 message=しばらくお待ちください。"),
        Case(
            "Japanese texts in a parameter", parameter,
            #"{"server_maintenance_config":"{\"isUnderMaintenance\":true,\"title\":\"メンテナンス中\",\"message\":\"\\u3057\\u3070\"}"}"#,
            "maintenance title=メンテナンス中 message=しば"),
        Case(
            "an object as the parameter", parameter,
            #"{"server_maintenance_config":{"isUnderMaintenance":"true"}}"#, "maintenance"),
        Case(
            "the texts wait for the maintenance", parameter,
            #"{"isUnderMaintenance":false,"title":"T","message":"M"}"#, "running"),
        Case(
            "a title of a wrong type", parameter, #"{"isUnderMaintenance":true,"title":1}"#,
            "key 'title' is a number, not a string or null"),
        Case("nothing", parameter, "{}", "key 'server_maintenance_config' is missing"),
        Case(
            "an empty parameter", parameter, #"{"server_maintenance_config":""}"#,
            "key 'server_maintenance_config' holds no valid JSON: "),
    ]
}
