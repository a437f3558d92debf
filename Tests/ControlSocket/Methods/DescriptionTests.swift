import ControlSocket
import JSON
import Testing

/// The description of the interface, and errors for unknown methods and interfaces.
@Suite struct DescriptionTests {
    private let asked: TestDispatcher

    init() throws { asked = try TestDispatcher() }

    /// The answer of the interface that every service has.
    private func describe(_ method: String, _ parameters: JSON.Object = [:]) throws -> JSON.Object {
        let call = MethodCall(
            interface: "org.varlink.service", method: method, parameters: parameters)
        return try #require(try asked.perform(call).answer)
    }

    @Test func theServiceDescribesItself() throws {
        let info = try describe("GetInfo")
        #expect(info["interfaces"] == ["org.varlink.service", "io.killswitchd"])
        #expect(info["version"]?.string == "9.9")
        let text = try #require(
            try describe("GetInterfaceDescription", ["interface": "io.killswitchd"])["description"]?
                .string)
        for method in Interface.methods { #expect(text.contains("\nmethod \(method.name)(")) }
        for error in MethodError.Kind.allCases where error.rawValue.hasPrefix("io.kill") {
            #expect(text.contains("\nerror \(error.rawValue.dropFirst("io.killswitchd.".count)) ("))
        }
        #expect(throws: MethodError.interfaceNotFound("io.other")) {
            _ = try describe("GetInterfaceDescription", ["interface": "io.other"])
        }
    }

    @Test func anUnknownMethodOrInterfaceIsATypedError() throws {
        #expect(throws: MethodError.methodNotFound("Shut")) { try asked.perform("Shut") }
        #expect(throws: MethodError.interfaceNotFound("io.other")) {
            try asked.perform(MethodCall(interface: "io.other", method: "X"))
        }
    }

    /// Another protocol was asked for, and the connection was closed without a word.
    @Test func noMethodTakesPartInAnUpgrade() {
        for (interface, method) in [
            ("io.killswitchd", "Explain"), ("org.varlink.service", "GetInfo"),
        ] {
            #expect(throws: MethodError.methodNotImplemented(method)) {
                try asked.perform(
                    MethodCall(interface: interface, method: method, isUpgrade: true))
            }
        }
    }

    /// Everything else is in files.
    @Test func theMethodsAreOrdersAndWhatOnlyTheGroupMayRead() {
        #expect(
            Set(Interface.methods.map(\.name)) == [
                "Force", "Release", "Refresh", "Activate", "Reload", "Forget", "Confirm",
                "Explain", "NoteDrill",
            ])
    }
}
