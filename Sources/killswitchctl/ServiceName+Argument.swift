import ArgumentParser
import Decision

extension Name: ExpressibleByArgument {
    init?(argument: String) {
        self.init(argument)
    }
}
