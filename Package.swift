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

/// What tests are held to. They are compiled without optimisation, in half the time: what they call is optimised.
let tested: [SwiftSetting] = strict + [.unsafeFlags(["-Onone"])]

/// How `make build` links the programs. Other builds, as that of the tests, link the same modules with the defaults of
/// the toolchain, so that no module is compiled twice.
let linking: [LinkerSetting] = [
    .unsafeFlags(
        (Context.environment["KILLSWITCHD_LINK"] ?? "").split(separator: " ").map(String.init))
]

/// Whether the programs are linked for other distributions, by `make portable`: under names of their own, and with RE2
/// inside, because each distribution has another one.
let isPortable = Context.environment["KILLSWITCHD_PORTABLE"] != nil
let suffix = isPortable ? "-portable" : ""

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
        exclude: others, swiftSettings: tested)
}

/// swift-argument-parser: the copy in this folder, which only a source package has and its Makefile names, or fetched.
let argumentParser: Package.Dependency =
    Context.environment["KILLSWITCHD_PARSER"].map { .package(path: $0) }
    ?? .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2")

let package = Package(
    name: "killswitchd",
    products: [
        .executable(name: "killswitchd\(suffix)", targets: ["killswitchd"]),
        .executable(name: "killswitchctl\(suffix)", targets: ["killswitchctl"]),
    ],
    dependencies: [argumentParser],
    targets: [
        // Pure: what should be true, and why. The standard library alone.
        module("JSON"),
        module("CivilTime"),
        module("Decision", uses: ["CivilTime", "JSON"]),
        quiet("Gates", uses: ["CivilTime", "Decision"]),
        quiet("Pages", uses: ["CivilTime", "Decision", "JSON"]),
        module("Metrics", uses: ["CivilTime", "Decision", "Gates", "JSON"]),
        quiet("Reports", uses: ["CivilTime", "Decision", "Gates", "JSON"]),
        quiet("Fleet", uses: ["CivilTime", "Decision", "JSON", "Metrics", "Reports"]),

        // Thin Swift faces of the C libraries, and those libraries.
        .systemLibrary(
            name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
        .systemLibrary(
            name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "COptions"),
        .target(name: "CCurl"),
        .target(name: "CToml"),
        .target(name: "CRE2", linkerSettings: [.linkedLibrary(isPortable ? ":libre2.a" : "re2")]),

        module("Files", uses: ["CSystemd", "POSIX"]),
        module("EventLoop", uses: ["CSystemd", "CivilTime", "POSIX"]),
        module("HTTP", uses: ["CCurl", "CZlib", "CivilTime", "EventLoop", "Files", "POSIX"]),
        quiet("Signing", uses: ["CCrypto", "CivilTime", "JSON"]),
        quiet("FlagSignatures", uses: ["CivilTime", "Decision", "Files", "Signing"]),
        module("POSIX"),

        quiet("Systemd", uses: ["CSystemd", "CivilTime", "EventLoop", "POSIX"]),

        // The settings of each kind of source: "Configuration" reads them, "FlagSources" fetches by them.
        quiet("SourceSettings", uses: ["Files", "JSON"]),

        // Settings become requests, with the credentials of this host, and answers become failures; etcd's gateway.
        quiet(
            "Requests",
            uses: ["CivilTime", "Decision", "Files", "HTTP", "JSON", "Signing", "SourceSettings"]),

        // Adapters: what each knows is its own outside world.

        quiet(
            "FlagSources",
            uses: [
                "CRE2", "CivilTime", "Decision", "EventLoop", "Files", "FlagSignatures", "HTTP",
                "JSON", "POSIX", "Requests", "Signing", "SourceSettings",
            ]),
        quiet(
            "Guards",
            uses: ["Decision", "Fleet", "HTTP", "JSON", "Requests", "SourceSettings"]),
        quiet(
            "SystemdUnits",
            uses: [
                "CivilTime", "Decision", "EventLoop", "Files", "Gates", "JSON", "POSIX", "Systemd",
            ]),
        module(
            "Storage",
            uses: ["CivilTime", "Decision", "Files", "Gates", "JSON", "Pages", "Systemd"]),
        quiet(
            "ControlSocket",
            uses: [
                "CSystemd", "CivilTime", "Decision", "EventLoop", "Files", "Gates", "JSON", "POSIX",
            ]),

        // The configuration of this system, checked: for both programs.
        quiet(
            "Configuration",
            uses: [
                "CToml", "CivilTime", "Decision", "Files", "Gates", "JSON", "Pages",
                "SourceSettings", "Storage",
            ]),

        // The one place where an effect is performed, and the two programs.
        module(
            "Drivers",
            uses: [
                "CivilTime", "Decision", "EventLoop", "Files", "FlagSources", "Gates", "POSIX",
                "Pages", "Storage", "Systemd", "SystemdUnits",
            ]),
        .executableTarget(
            name: "killswitchd",
            dependencies: [
                "COptions", "CSystemd", "CivilTime", "Configuration", "ControlSocket", "Decision",
                "Drivers",
                "EventLoop", "Files", "FlagSignatures", "FlagSources", "Gates", "Guards", "HTTP",
                "JSON",
                "Metrics", "POSIX", "Reports", "Requests", "SourceSettings", "Storage", "Systemd",
                "SystemdUnits",
            ],
            swiftSettings: lean, linkerSettings: linking),
        .executableTarget(
            name: "killswitchctl",
            dependencies: [
                "CivilTime", "Configuration", "ControlSocket", "Decision", "EventLoop",
                "Files", "FlagSignatures", "Fleet", "Gates", "Guards", "HTTP", "JSON", "POSIX",
                "Pages",
                "Reports", "Requests", "Signing", "SourceSettings", "Storage", "Systemd",
                "SystemdUnits",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: lean, linkerSettings: linking),

        tests(of: "JSON", uses: ["Decision"]),
        tests(
            of: "CivilTime", uses: ["Decision", "Files", "Support"],
            excluding: ["Support/zoneinfo-table.py"]),
        tests(
            of: "Decision",
            uses: ["CivilTime", "Configuration", "JSON", "Support", "VirtualWorld"],
            excluding: ["Transcripts"]),
        tests(
            of: "Gates", uses: ["CivilTime", "Decision", "Support"], excluding: ["Transcripts"]),
        tests(of: "Pages", uses: ["CivilTime", "Decision", "JSON"]),
        tests(
            of: "Metrics",
            uses: ["CivilTime", "Decision", "Files", "Gates", "JSON", "Storage", "Support"]),
        tests(of: "Reports", uses: ["CivilTime", "Decision", "Gates", "JSON", "Support"]),
        tests(
            of: "Fleet", uses: ["CivilTime", "Decision", "JSON", "Metrics", "Reports", "Support"]),
        tests(of: "POSIX"),
        tests(of: "Files", uses: ["Support"]),
        tests(of: "EventLoop", uses: ["CivilTime", "Files", "POSIX", "Support"]),
        tests(of: "HTTP", uses: ["CivilTime", "EventLoop", "Support"]),
        tests(of: "Signing", uses: ["CivilTime", "Files", "Support"]),

        tests(
            of: "Systemd",
            uses: ["BusSupport", "CivilTime", "EventLoop", "Files", "POSIX", "Support"]),
        tests(of: "SystemdUnits", uses: ["Decision", "EventLoop", "Gates", "Support"]),
        tests(
            of: "Configuration",
            uses: ["CivilTime", "Decision", "Files", "JSON", "Pages", "SourceSettings", "Support"]),
        tests(
            of: "FlagSources",
            uses: [
                "CivilTime", "Decision", "EventLoop", "Files", "HTTP", "JSON", "Requests",
                "Signing", "SourceSettings", "Support",
            ], excluding: ["Firebase/Conditions/official-client.py", "Stream/Transcripts"]),
        tests(of: "Guards", uses: ["Decision"]),
        tests(
            of: "ControlSocket",
            uses: [
                "CivilTime", "Decision", "EventLoop", "Files", "Gates", "JSON", "POSIX", "Support",
            ]),
        tests(
            of: "Storage",
            uses: [
                "CivilTime", "Decision", "Files", "Gates", "JSON", "Pages", "Support", "Systemd",
            ]),

        tests(
            of: "Drivers",
            uses: [
                "BusSupport", "CSystemd", "CivilTime", "Decision", "EventLoop", "Files",
                "FlagSources", "Gates", "Pages", "Storage", "Support", "Systemd", "SystemdUnits",
            ]),

        // The programs as "make build" leaves them and their users run them, and what tests share.
        .testTarget(
            name: "ProcessTests",
            dependencies: [
                "CivilTime", "Configuration", "Decision", "EventLoop", "Files", "Gates", "JSON",
                "Metrics", "POSIX", "Pages", "Storage", "Support",
            ],
            path: "Tests/Process",
            exclude: ["Control/varlink-client.py"],
            swiftSettings: tested),
        .testTarget(
            name: "SystemTests",
            dependencies: ["CivilTime", "EventLoop", "Files", "JSON", "Storage", "Support"],
            path: "Tests/System",
            exclude: [
                "Gates/forge", "Guides/shop-web.service", "Web/requests", "Web/steady-requests",
                "boot",
                "boot-once", "control-group", "walk-through",
            ],
            swiftSettings: tested),
        .executableTarget(
            name: "decision-benchmark",
            dependencies: [
                "CivilTime", "Decision", "Files", "Gates", "Metrics", "Reports", "Storage",
                "VirtualWorld",
            ],
            path: "Benchmarks/decision/Program", swiftSettings: strict, linkerSettings: linking),
        .executableTarget(
            name: "signing-benchmark",
            dependencies: [
                "CivilTime", "Decision", "EventLoop", "Files", "FlagSignatures", "Signing",
            ],
            path: "Benchmarks/signing/Program", swiftSettings: strict, linkerSettings: linking),
        .executableTarget(
            name: "fleet-benchmark",
            dependencies: [
                "CivilTime", "Decision", "EventLoop", "Files", "FlagSources", "HTTP", "Reports",
                "Requests", "SourceSettings",
            ],
            path: "Benchmarks/fleet/Program", swiftSettings: strict, linkerSettings: linking),
        .target(
            name: "VirtualWorld", dependencies: ["CivilTime", "Decision", "Gates", "JSON"],
            path: "Tests/VirtualWorld", swiftSettings: strict),
        .target(
            name: "Support",
            dependencies: [
                "CivilTime", "Decision", "Files", "Gates", "JSON", "Metrics", "POSIX", "Signing",
            ],
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
                "CFuzzer", "CivilTime", "Configuration", "ControlSocket", "Decision", "Files",
                "FlagSignatures", "FlagSources", "Fleet", "Gates", "Guards", "HTTP", "JSON",
                "Metrics", "Reports", "Requests", "Signing", "Storage",
            ],
            path: "Tests/Fuzz/Program", swiftSettings: strict,
            // gold stops at the debug information.
            linkerSettings: [.unsafeFlags(["-use-ld=lld"])]),
    ]
}
