extension PageTemplate {
    /// The template that killswitchd brings. It is installed as an example too, `page.html`, to begin with.
    ///
    /// One file without scripts, fonts or pictures, to be served while everything else is down. Colours have a contrast
    /// of at least 4.5 to 1 (WCAG 2, AA) in both schemes. A filled page is smaller than a block of a tmpfs, 4,096
    /// bytes.
    package static let standard: PageTemplate = {
        do {
            return try PageTemplate(Array(standardText.utf8))
        } catch {
            // A test reads it; a page without fields is better than none.
            return PageTemplate(nodes: [.text(Array(standardText.utf8))], values: [])
        }
    }()

    package static let standardText = """
        <!DOCTYPE html>
        <html lang="{{lang}}">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="robots" content="noindex">
        {{#refresh}}
        <meta http-equiv="refresh" content="{{refresh}}">
        {{/refresh}}
        <title>{{heading}}</title>
        <style>
        :root{color-scheme:light dark;--back:#f4f5f7;--card:#fff;--text:#1d2129;--soft:#545b67;--line:#d5d9e0;--mark:#1a56b8}
        @media(prefers-color-scheme:dark){:root{--back:#121419;--card:#1c1f26;--text:#eceef2;--soft:#b0b7c3;--line:#3a404b;--mark:#9cc2ff}}
        *{box-sizing:border-box}
        body{margin:0;min-height:100vh;display:grid;place-items:center;padding:1rem;background:var(--back);color:var(--text);font:1.0625rem/1.6 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
        main{width:100%;max-width:36rem;padding:clamp(1.5rem,6vw,3rem);background:var(--card);border:1px solid var(--line);border-top:.3rem solid var(--mark);border-radius:.5rem;overflow-wrap:anywhere}
        h1{margin:0 0 1rem;font-size:clamp(1.5rem,5vw,2rem);line-height:1.25}
        p{margin:0 0 1rem;white-space:pre-line}
        .days{font-size:1.375rem;font-weight:600;color:var(--mark)}
        .soft{color:var(--soft)}
        p:last-child{margin:0}
        </style>
        </head>
        <body>
        <main>
        <h1 dir="auto">{{heading}}</h1>
        {{#days_text}}
        <p class="days">{{days_text}}</p>
        {{/days_text}}
        <p dir="auto">{{text}}</p>
        {{#ends_text}}
        <p>{{ends_label}} <time datetime="{{ends_at}}">{{ends_text}}</time></p>
        {{/ends_text}}
        {{#refresh}}
        <p class="soft">{{refresh_text}}</p>
        {{/refresh}}
        </main>
        </body>
        </html>

        """
}
