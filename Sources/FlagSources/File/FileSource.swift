import CivilTime
package import Decision
package import EventLoop
import Files
package import FlagSignatures
package import JSON

/// Flags in a local file, which is read whole and watched by inotify.
package final class FileSource: FlagSource {
    package let name: SourceName
    package let documents: SignedDocuments?
    private let path: String
    private let maxBody: Int
    private let loop: EventLoop
    private let deliver: Deliver
    private var watch: PathWatch?
    /// Whether the watch was renewed when the file changed, so that it covers what the next fetch reads.
    private var isWatchRenewed = false
    private var deliveredProblem: String?
    /// Whether somebody reads the whole file as one value.
    private var alone = FlagDocument.Alone.nothing

    /// A source for the file at the absolute `path`, of at most `maxBody` bytes.
    package init(
        name: SourceName, path: String, maxBody: Int, loop: EventLoop, signers: SignerFile? = nil,
        deliver: @escaping Deliver
    ) {
        documents = signers.map { SignedDocuments(of: name, by: $0, loop: loop, deliver: deliver) }
        self.name = name
        self.path = path
        self.maxBody = maxBody
        self.loop = loop
        self.deliver = deliver
    }

    package var fingerprint: String { "file:\(path)" }

    package func setKeys(_ keys: Set<ExactString>) {
        alone = keys.contains(ExactString(FlagDocument.wholeKey)) ? .word : .nothing
    }

    package func start() {
        watch = PathWatch(loop, path: path) { [unowned self] in
            isWatchRenewed = true
            deliver(.hinted(name))
        }
        deliverProblem()
        documents?.start()
    }

    /// Reads the file at once, and tries again to watch a file that could not be watched before.
    package func fetch(unlessMatching validators: Validators) {
        if !isWatchRenewed { watch?.rearm() }
        isWatchRenewed = false
        deliverProblem()
        documents?.refresh()
        deliver(.fetchEnded(name, outcome()))
    }

    package func stop() {
        watch = nil
        documents?.stop()
    }

    private func deliverProblem() {
        let problem = watch?.problem.map(String.init(describing:))
        guard problem != deliveredProblem else { return }
        deliveredProblem = problem
        deliver(.watchChanged(name, problem: problem))
    }

    private func outcome() -> Outcome {
        do {
            let body = try File.read(path, limit: maxBody)
            return .answer(try answer(in: body, alone: alone, at: loop.now.wall))
        } catch let failure as Failure {
            return .failure(failure)
        } catch let error as FileError where error.isTooLarge {
            var failure = Failure(.invalid, "\(error)")
            failure.isTooLarge = true
            return .failure(documents?.failure(of: failure) ?? failure)
        } catch {
            return .failure(Failure(.unreachable, "\(error)"))
        }
    }
}
