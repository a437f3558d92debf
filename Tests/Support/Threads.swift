import Dispatch

/// Runs each piece of a task on a thread of its own. A test blocks its thread until it ends, and Swift's own pool has
/// one for each processor: there, tests that wait for a system would wait for each other.
package final class Threads: TaskExecutor {
    package static let shared = Threads()

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = unsafe asUnownedTaskExecutor()
        DispatchQueue(label: "test").async { unsafe job.runSynchronously(on: executor) }
    }
}
