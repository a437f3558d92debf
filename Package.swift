// swift-tools-version: 6.2

import PackageDescription

/// What every Swift target is held to: warnings are errors, unsafe code says so, imports are named.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .strictMemorySafety(),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// What `Sources/` is held to besides: nothing of the standard library's regular expressions, not even
/// by an innocent `contains("text")`. They would be linked in whole, most of a megabyte.
let lean: [SwiftSetting] =
    strict + [
        .unsafeFlags(["-Xfrontend", "-disable-implicit-string-processing-module-import"])
    ]

/// A Swift target of `Sources/`, held to `lean`.
func module(_ name: String, uses dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: lean)
}

/// A module that works at the start, or when somebody asks for something: small rather than quick.
func quiet(_ name: String, uses dependencies: [Target.Dependency] = []) -> Target {
    .target(
        name: name, dependencies: dependencies,
        swiftSettings: lean + [.unsafeFlags(["-Osize"], .when(configuration: .release))])
}

/// The tests of one target, in the folder of that name under `Tests/`, less the files that are not
/// Swift.
func tests(
    of name: String, uses more: [Target.Dependency] = [], excluding others: [String] = []
) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: [.byName(name: name)] + more, path: "Tests/\(name)",
        exclude: others, swiftSettings: strict)
}

let package = Package(
    name: "killswitchd",
    products: [
        .executable(name: "killswitchd", targets: ["killswitchd"]),
        .executable(name: "killswitchctl", targets: ["killswitchctl"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2")
    ],
    targets: [
        // Pure: what should be true, and why. The standard library alone.
        module("JSON"),
        module("CivilTime"),
        module("Decision", uses: ["CivilTime", "JSON"]),
        module("Pages", uses: ["CivilTime", "Decision", "JSON"]),
        module("Metrics", uses: ["CivilTime", "Decision", "JSON"]),
        module("Reports", uses: ["CivilTime", "Decision", "JSON"]),

        // Thin Swift faces of the C libraries, and those libraries.
        .systemLibrary(
            name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
        .systemLibrary(
            name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(
            name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "COptions"),
        .target(name: "CToml"),
        .target(name: "CRE2", linkerSettings: [.linkedLibrary("re2")]),
        module("Faults"),
        module("Files", uses: ["CSystemd", "Faults"]),
        module("EventLoop", uses: ["CSystemd", "CivilTime", "Faults"]),
        module("Transfer", uses: ["CCurl", "CZlib", "CivilTime", "EventLoop", "Faults", "Files"]),
        quiet("Signing", uses: ["CCrypto", "CivilTime"]),
        quiet("SignedFlags", uses: ["CivilTime", "Decision", "Files", "Signing"]),
        module("Datagrams", uses: ["Faults"]),
        quiet("Notify", uses: ["CivilTime", "Datagrams", "Faults"]),
        quiet("Journal", uses: ["CSystemd", "Datagrams", "Faults"]),
        quiet("Bus", uses: ["CSystemd", "CivilTime", "EventLoop", "Faults"]),

        // The settings of each kind of source: "Settings" reads them, "RemoteFlags" fetches by them.
        quiet("SourceKinds", uses: ["Files", "JSON"]),

        // Adapters: what each knows is its own outside world.
        quiet(
            "Settings",
            uses: ["CToml", "CivilTime", "Decision", "Files", "JSON", "Pages", "SourceKinds"]),
        module(
            "RemoteFlags",
            uses: [
                "CRE2", "CivilTime", "Decision", "EventLoop", "Faults", "Files", "JSON",
                "SignedFlags", "Signing", "SourceKinds", "Transfer",
            ]),
        quiet(
            "Gates",
            uses: ["Bus", "CivilTime", "Decision", "EventLoop", "Faults", "Files", "JSON"]),
        module("Records", uses: ["CivilTime", "Decision", "Files", "JSON", "Journal", "Pages"]),
        quiet(
            "Control",
            uses: [
                "CSystemd", "CivilTime", "Datagrams", "Decision", "EventLoop", "Faults", "Files",
                "JSON",
            ]),

        // The configuration of this system, checked: for both programs.
        quiet(
            "HostConfiguration",
            uses: ["CivilTime", "Decision", "Files", "JSON", "Records", "Settings"]),

        // The one place where an effect is performed, and the two programs.
        module(
            "Agent",
            uses: [
                "CivilTime", "Decision", "EventLoop", "Faults", "Files", "Pages", "Records",
                "RemoteFlags",
            ]),
        .executableTarget(
            name: "killswitchd",
            dependencies: [
                "Agent", "COptions", "CivilTime", "Control", "Datagrams", "Decision", "EventLoop",
                "Faults", "Files", "Gates", "HostConfiguration", "JSON", "Journal", "Metrics",
                "Notify",
                "Records", "RemoteFlags", "Reports", "Settings", "SignedFlags", "SourceKinds",
                "Transfer",
            ],
            swiftSettings: lean),
        .executableTarget(
            name: "killswitchctl",
            dependencies: [
                "CivilTime", "Control", "Decision", "EventLoop", "Faults", "Files", "Gates",
                "HostConfiguration", "JSON", "Journal", "Records", "Settings", "SignedFlags",
                "Signing", "SourceKinds",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: lean),

        tests(of: "JSON"),
        tests(of: "CivilTime", excluding: ["Support/zoneinfo-table.py"]),
        tests(of: "Decision", uses: ["CivilTime", "JSON", "VirtualWorld"]),
        tests(of: "Pages", uses: ["CivilTime", "Decision", "JSON"]),
        tests(
            of: "Metrics",
            uses: ["CivilTime", "Decision", "Files", "JSON", "Records", "Support"]),
        tests(of: "Reports", uses: ["CivilTime", "Decision", "JSON", "Support"]),
        tests(of: "Faults", excluding: ["faults"]),
        tests(of: "Files", uses: ["Support"]),
        tests(of: "EventLoop", uses: ["CivilTime", "Faults"]),
        tests(of: "Transfer", uses: ["CivilTime", "EventLoop", "Support"]),
        tests(of: "Signing", uses: ["CivilTime", "Files", "Support"]),
        tests(of: "Notify", uses: ["Datagrams", "Faults", "Support"]),
        tests(of: "Journal", uses: ["Datagrams", "Support"]),
        tests(of: "Bus", uses: ["BusSupport", "CivilTime", "EventLoop", "Support"]),
        tests(
            of: "Gates",
            uses: [
                "Bus", "BusSupport", "CSystemd", "CivilTime", "Decision", "EventLoop", "Support",
            ]),
        tests(
            of: "Settings",
            uses: ["CivilTime", "Decision", "Files", "JSON", "Pages", "SourceKinds", "Support"]),
        tests(
            of: "RemoteFlags",
            uses: [
                "CivilTime", "Decision", "EventLoop", "Files", "JSON", "Signing", "SourceKinds",
                "Support", "Transfer",
            ],
            excluding: ["Firebase/Conditions/official-client.py"]),
        tests(
            of: "Control",
            uses: ["CivilTime", "Datagrams", "Decision", "EventLoop", "Files", "JSON", "Support"]),
        tests(
            of: "Records",
            uses: ["CivilTime", "Decision", "Files", "JSON", "Journal", "Pages", "Support"]),

        tests(
            of: "Agent",
            uses: [
                "CivilTime", "Decision", "EventLoop", "Files", "Pages", "Records", "RemoteFlags",
                "Support",
            ]),

        tests(of: "killswitchd", uses: ["CivilTime", "Decision", "Notify"]),

        // The programs as "make build" leaves them and their users run them, and what tests share.
        .testTarget(
            name: "ProcessTests",
            dependencies: [
                "CivilTime", "Datagrams", "Decision", "EventLoop", "Faults", "Files", "JSON",
                "Metrics", "Pages", "Records", "Settings", "Support",
            ],
            path: "Tests/Process",
            exclude: ["Control/crowd.py", "Control/varlink-client.py"],
            swiftSettings: strict),
        .testTarget(
            name: "SystemTests",
            dependencies: [
                "CivilTime", "EventLoop", "Files", "JSON", "Records", "Support",
            ],
            path: "Tests/System",
            exclude: [
                "Guides/shop-web.service", "Web/requests", "Web/steady-requests", "boot",
                "boot-once", "control-group", "walk-through",
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "decision-benchmark",
            dependencies: [
                "CivilTime", "Decision", "Files", "Metrics", "Records", "Reports", "VirtualWorld",
            ],
            path: "Benchmarks/decision/Program", swiftSettings: strict),
        .executableTarget(
            name: "signing-benchmark",
            dependencies: [
                "CivilTime", "Decision", "EventLoop", "Files", "SignedFlags", "Signing",
            ],
            path: "Benchmarks/signing/Program", swiftSettings: strict),
        .target(
            name: "VirtualWorld", dependencies: ["CivilTime", "Decision", "JSON"],
            path: "Tests/VirtualWorld", swiftSettings: strict),
        .target(
            name: "Support", dependencies: ["Datagrams", "Files", "JSON", "Signing"],
            path: "Tests/Support",
            exclude: [
                "Bus", "Firebase/check-assertion.py", "Firebase/real-client.py", "Python", "Server",
            ],
            swiftSettings: strict),
        .target(
            name: "BusSupport", dependencies: ["CivilTime", "EventLoop", "Files", "Support"],
            path: "Tests/Support/Bus", swiftSettings: strict),
    ],
    cxxLanguageStandard: .cxx17
)

// The fuzzing targets need libFuzzer, which only "make fuzz" links.
if Context.environment["KILLSWITCH_FUZZ"] != nil {
    package.targets += [
        .systemLibrary(name: "CFuzzer", path: "Tests/Fuzz/CFuzzer"),
        .executableTarget(
            name: "fuzz",
            dependencies: [
                "CFuzzer", "CivilTime", "Control", "Decision", "Files", "JSON", "Records",
                "RemoteFlags", "Settings", "SignedFlags", "Signing", "Transfer",
            ],
            path: "Tests/Fuzz/Program", swiftSettings: strict,
            // gold stops at the debug information.
            linkerSettings: [.unsafeFlags(["-use-ld=lld"])]),
    ]
}
