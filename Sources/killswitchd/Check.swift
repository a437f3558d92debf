import Decision
import Settings

/// `--check`: what the configuration comes to, and where each setting was written.
enum Check {
    static func run(_ options: Options) -> Int32 {
        do {
            let settings = try ConfigurationFile.load(options.configuration)
            print("read \(options.configuration)")
            for setting in settings.effective { print(setting) }
            for warning in settings.warnings { Log.write(.warning, "\(warning)") }
            return ExitStatus.success
        } catch {
            Log.write(.error, "\(error)")
            return ExitStatus.configuration
        }
    }
}
