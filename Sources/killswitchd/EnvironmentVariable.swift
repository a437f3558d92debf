import Glibc

/// The value of an environment variable of this process; nil where it is not set.
func environmentVariable(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    return unsafe String(cString: value)
}
