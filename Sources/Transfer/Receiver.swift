/// Takes an answer as it comes: a stream that may last for days.
///
/// Both are called from within libcurl, so that neither may call the exchange, or anything else that
/// does: they note what came, and act later. False ends the transfer, which is then told of as a
/// failure.
package protocol Receiver: AnyObject {
    /// The status is 200, and these are the headers.
    func begin(_ headers: HeaderSection) -> Bool

    /// The next bytes, at most 16 KiB of them.
    func take(_ bytes: [UInt8]) -> Bool
}
