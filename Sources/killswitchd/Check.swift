import Decision
import Files
import Settings
import SystemConfiguration

/// `--check`: which files the configuration is made of, what it comes to, and where each setting was
/// written.
enum Check {
    static func run(_ options: Options, _ log: Log) -> Int32 {
        do {
            let files = try ConfigurationFiles(reading: options.places())
            for file in files.contents { print("read \(file.path)") }
            for file in files.passedOver { print(file) }
            let configuration = try Configuration(files)
            for setting in configuration.settings.effective { print(setting) }
            for warning in configuration.settings.warnings { log.write(.warning, "\(warning)") }
            return ExitStatus.success
        } catch {
            log.write(.error, "\(error)")
            return ExitStatus.configuration
        }
    }
}
