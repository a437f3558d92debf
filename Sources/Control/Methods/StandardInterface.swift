import JSON

/// `org.varlink.service`, which tells what there is to call (varlink.org, "Service").
struct StandardInterface {
    /// The version of the program.
    let version: String

    func answer(_ call: Call) throws(MethodError) -> JSON.Object {
        switch call.method {
        case "GetInfo":
            _ = try Parameters(call.parameters, allowed: [])
            return [
                "vendor": "killswitchd", "product": "killswitchd", "version": .string(version),
                "url": "man:killswitchd(8)",
                "interfaces": [.string(Interface.standard), .string(Interface.name)],
            ]
        case "GetInterfaceDescription":
            let parameters = try Parameters(call.parameters, allowed: ["interface"])
            switch try parameters.string("interface") {
            case Interface.name: return ["description": .string(Interface.description)]
            case Interface.standard: return ["description": .string(Self.description)]
            case let other: throw .interfaceNotFound(other)
            }
        default:
            throw .methodNotFound(call.method)
        }
    }

    private static let description = """
        # The interface that every Varlink service has.
        interface org.varlink.service

        # Who this is, and what interfaces there are.
        method GetInfo() -> (
          vendor: string,
          product: string,
          version: string,
          url: string,
          interfaces: []string
        )

        # The description of an interface, such as this one.
        method GetInterfaceDescription(interface: string) -> (description: string)

        # There is no interface of this name.
        error InterfaceNotFound (interface: string)

        # The interface has no such method.
        error MethodNotFound (method: string)

        # The method is declared, and not there.
        error MethodNotImplemented (method: string)

        # This parameter is missing, not known, or of the wrong type or value.
        error InvalidParameter (parameter: string)

        """
}
