import Support
import Testing

/// What `attach` and `detach` say of a word that is no unit; nothing is changed.
@Suite struct AttachArgumentTests {
    @Test(arguments: ["attach", "detach"], ["worker@.service", "worker@"])
    func aTemplateNeedsAnInstance(_ command: String, _ word: String) throws {
        let said = try Programs.run("killswitchctl", [command, "shop", word])
        #expect(said.status != 0)
        #expect(
            said.errors.contains(
                "a template needs an instance, because it never runs itself; name 'worker@NAME.service'"
            ))
    }

    @Test func aWordThatIsNoUnitIsRefused() throws {
        let said = try Programs.run("killswitchctl", ["attach", "shop", "../web"])
        #expect(said.errors.contains("it is not the name of a unit, such as 'web.service'"))
    }
}
