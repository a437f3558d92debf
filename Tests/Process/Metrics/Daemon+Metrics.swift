import Files
import Support

extension Daemon {
    /// The metrics as they were written last; nil before the first.
    func metrics(_ file: String = "run/metrics.prom") throws -> String? {
        try File.exists(folder(file)) ? folder.text(of: file) : nil
    }

    /// Waits until the metrics have this line.
    func waitFor(sample: String, in file: String = "run/metrics.prom") throws {
        try waitUntil("the metrics have '\(sample)'") { [self] in
            try metrics(file)?.split(separator: "\n").contains { $0 == sample } ?? false
        }
    }

    /// The value of a sample; nil without it.
    func value(of sample: String) throws -> Substring? {
        let line = try metrics()?.split(separator: "\n").first { $0.hasPrefix(sample + " ") }
        return line?.dropFirst(sample.count + 1)
    }
}
