import Glibc

/// The user who runs the tests, as the daemon names the author of an order: `root (uid 0)`.
package let ownUser: String = {
    let user = getuid()
    guard let entry = unsafe getpwuid(user), let name = unsafe entry.pointee.pw_name else {
        return "uid \(user)"
    }
    return "\(unsafe String(cString: name)) (uid \(user))"
}()
