import SourceKinds

extension EtcdSite {
    /// The prefix, the user and the endpoints. There is no secret in it.
    var binding: String {
        let user = login.map { " as \($0.user)" } ?? ""
        return "etcd:\(prefix)\(user) at \(endpoints.sorted().joined(separator: ","))"
    }
}
