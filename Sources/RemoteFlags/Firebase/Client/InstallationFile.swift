import Decision
import Files
import JSON

/// The file under `$STATE_DIRECTORY` that keeps a source's installation over restarts. It is nobody
/// else's to read.
struct InstallationFile {
    private let folder: String
    private let path: String
    /// What the installation belongs to.
    private let app: String

    init(of source: SourceName, app: String, in stateDirectory: String) {
        folder = "\(stateDirectory)/installations"
        path = "\(folder)/\(source).json"
        self.app = app
    }

    /// Nil where there is none, or that of another app, or one that cannot be read: a new one is made.
    func read() -> Installation? {
        do {
            return Installation(
                try JSON.Value.parse(try File.read(path, limit: 64 << 10)), of: app)
        } catch {
            return nil
        }
    }

    func write(_ installation: Installation) throws(FileError) {
        try Directory.create(folder)
        let text = installation.json(for: app).serialized(.pretty) + "\n"
        try File.replace(path, with: Array(text.utf8), mode: 0o600, surviving: .powerLoss)
    }
}
