"""JavaScript on node's command line: what is harmless, and what only looks so."""

from __future__ import annotations

import pytest

from assent.effects.code.node_tokens import MARK, NAME, NUMBER, REGEX, TEXT, tokens
from tests.unit.effects.shell.commands.commands import does

EXECUTE = "EXECUTE <node>"
CODE = "EXECUTE <data:>"  # the conditional effect: code that does no more than it shows


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("const f = x => x + 1; console.log(f(2))", []),
        ("function f(a, b) { return a * b }\nconsole.log(f(2, 3))", []),
        ("JSON.parse(require('fs').readFileSync('a.json', 'utf8'))", ["READ a.json"]),
        (
            "const fs = require('fs')\nconst p = JSON.parse(fs.readFileSync('a.json'))\nconsole.log(p.name)",
            ["READ a.json"],
        ),
        ("const fs = require('node:fs'); fs.writeFileSync('b.txt', 'x')", ["WRITE b.txt"]),
        ("const p = 'b.txt'; require('fs').appendFileSync(p, 'x')", ["WRITE b.txt"]),
        ("const fs = require('fs'); fs.readdirSync('src').filter(n => n.endsWith('.js')).map(n => n)", ["LIST src"]),
        ("const m = [...'a1'.matchAll(/[a-z]([0-9])/g)].map(x => x[1]); console.log(m.length / 2)", []),
        ("console.log(`a ${1 + 1} b`)", []),
        ("for (const [k, v] of Object.entries({ a: 1 })) console.log(k, v)", []),
        ("const o = {}; for (const k of ['a']) { o[k] = 1 }; console.log(JSON.stringify(o))", []),
        ("const a = [1, 2]; for (let i = 0; i < a.length; i++) console.log(a[i], a[i + 1])", []),
        ("console.log(require('fs').readFileSync(0, 'utf8').length)", []),
        ("let d = ''; process.stdin.on('data', c => d += c).on('end', () => console.log(JSON.parse(d).a))", []),
        ("console.log(new Set([1, 2]).size, process.argv[1], Math.PI)", []),
        ("const fs = require('fs'), zlib = require('zlib'); zlib.gzipSync(fs.readFileSync('a'))", ["READ a"]),
    ],
)
def test_code_that_does_what_it_shows(code: str, found: list[str]) -> None:
    assert does(("node", "-e", code)) == [*found, CODE]


def test_data_is_loaded_where_it_is_a_file() -> None:
    assert does(("node", "-p", "require('./a.json').version")) == ["READ a.json", "EXECUTE <data:/w/a.json>", CODE]


@pytest.mark.parametrize(
    "code",
    [
        "require('child_process').execSync('id')",
        "require('./x')",
        "require('./x.js')",
        "require(x)",
        "const r = require; r('fs')",
        "const fs = require('fs'); fs.rmSync('x')",
        "const fs = require('fs'); fs['rm' + 'Sync']('x')",
        "const fs = require('fs'); const g = fs; g.rmSync('x')",
        "const fs = require('fs'); [1].map(fs.rmSync)",
        "const fs = require('fs').promises; fs.rm('x')",
        "const { rmSync } = require('fs'); rmSync('x')",
        "fs.readFileSync('x')",  # node binds its modules itself
        "[].constructor.constructor('x')()",
        "const k = 'const' + 'ructor'; [][k][k]('x')()",
        "const { constructor: F } = []; [1].map(F)",
        "const k = 'x'; const { [k]: F } = []; console.log(F)",
        "const { a = eval } = {}; a('x')",
        "const f = (x = eval) => x; f()",
        "true['const' + 'ructor']",
        "'a'['const' + 'ructor']",
        "x => x[y]",
        "const o = []; const i = 'a'; o[i]",
        "const o = []; o?.[o]",
        "const o = []; let i = 'a'; o[i]",
        "const o = []; let i = 0; i = 'a'; o[i]",
        "const o = []; let i = 0; i += 'a'; o[i]",
        "const o = []; let i = 0; [i] = ['a']; o[i]",
        "const o = []; let i = 0; ({ i } = { i: 'a' }); o[i]",
        "const o = []; let i = 0; for (i of ['a']) o[i]",
        "const o = []; let i = 0; for (i in { a: 1 }) o[i]",
        "const o = []; let i = 0; const f = i => o[i]; f('a')",
        "const o = []; let i = 0; const f = (x, i) => o[i]; f(1, 'a')",
        "const o = []; let i = 0; const { i: j } = {}; { const { x: i } = { x: 'a' }; o[i] }",
        "const o = []; let i = 0 + 'a'; o[i]",
        "const o = []; let i = 0; function f(i) { return o[i] }; f('a')",
        "const o = []; let i = 0; try { throw 'a' } catch (i) { o[i] }",
        "process.stdin.constructor",
        "process.stdin = 1",
        "const s = process.stdin; s.on('x')",
        "eval('x')",
        "new Function('x')()",
        "(() => 1)()",
        "const f = [x => x]; f[0](1)",
        "const f = x => x; f(1)(2)",
        "function f(g) { g('x') }",
        "let f = x => x; f = 1; f(2)",
        "const f = x => x; { const f = 1 }",
        "this.process",
        "globalThis.process",
        "global.process",
        "process.env",
        "process.mainModule",
        "process['env']",
        "const p = process; p.env",
        "console.log = 1",
        "JSON.parse = 1",
        "console['log'](1)",
        "const c = console; c.log(1)",
        "Object.getPrototypeOf(x => x)",
        "[1].map(Object)",
        "const JSON = 1; JSON.parse('x')",
        "import('fs')",
        "import fs from 'fs'",
        "setTimeout('x')",
        "fetch('http://h')",
        "class A {}",
        "async () => { await 1 }",
        "with (x) {}",
        "f`x`",
        "x.call(1)",
        "x.__proto__",
        "({ __proto__: 1 })",
        "a\\u0062c",
        "a <!-- b",
        'if (1) /"/; eval(1); /"/',
        "of/eval(1)/1",
        'async () => { await /"/; eval(1); /"/ }',
        'let x = {}\n/"/; eval(1); /"/',
        "undeclared",
        "(",
    ],
)
def test_code_that_is_not_known_to_be_harmless_is_executed(code: str) -> None:
    assert EXECUTE in does(("node", "-e", code))


@pytest.mark.parametrize(
    "code",
    [
        "let p = 'a'; p = '/etc/x'; require('fs').writeFileSync(p, '')",
        "let p = 'a'; [p] = ['/etc/x']; require('fs').writeFileSync(p, '')",
        "const p = 'a'; { const p = '/etc/x'; require('fs').writeFileSync(p, '') }",
        "const p = 'a', q = p => require('fs').writeFileSync(p, ''); q('/etc/x')",
        "const p = 'a' + '/b'; require('fs').writeFileSync(p, '')",
        "const p = '\\x2fetc'; require('fs').writeFileSync(p, '')",
        "require('fs').writeFileSync('a' + '/b', '')",
        "require('fs').writeFileSync(process.argv[1], '')",
    ],
)
def test_a_path_that_may_be_another_is_not_known(code: str) -> None:
    assert "WRITE ?" in does(("node", "-e", code))


def test_other_runtimes_load_settings_of_the_folder() -> None:
    assert "EXECUTE <bun>" in does(("bun", "-e", "const f = x => x; console.log(f(1))"))


def test_tokens_are_those_of_the_language() -> None:
    assert tokens("a /b/ c") == [(NAME, "a"), (MARK, "/"), (NAME, "b"), (MARK, "/"), (NAME, "c")]
    assert tokens("return /b/g") == [(NAME, "return"), (REGEX, "/b/g")]
    assert tokens("x.return / 2") == [(NAME, "x"), (MARK, "."), (NAME, "return"), (MARK, "/"), (NUMBER, "2")]
    assert tokens("'a\"b' // c\n/* d */ 1") == [(TEXT, 'a"b'), (NUMBER, "1")]
    assert tokens('(/[/"]/)') == [(MARK, "("), (REGEX, '/[/"]/'), (MARK, ")")]
    assert [tokens(text) for text in ("'a", "`a", "`${'}'}`", "}/a/", "a\u2028b", "\u00e9", "#!x", "1n")] == [None] * 8


@pytest.mark.parametrize(
    "code",
    [
        "const {'constructor': F} = () => {}; console.log(F)",
        "var of = x => x; [1].map(JSON.parse('1', of['constructor']))",
        "of = x => x; [1].map(JSON.parse('1', of['constructor']))",
        "var let = x => x; [1].map(JSON.parse('1', let['constructor']))",
        "for (const x of of['constructor']) console.log(x)",
        "var of = x => x; for (const x of [of('x')]) console.log(x)",
        "var of = JSON.parse('1'); of('x')",
        "for (var of of [1]) of('x')",
        "const {'\\x63onstructor': F} = () => {}; console.log(F)",
        "let i = 0; const f = () => {}; for ([i] of [['constructor']]) console.log(f[i])",
        "let i = 0; const f = () => {}; for ({a: i} of [{a: 'constructor'}]) console.log(f[i])",
        "process.stdin.on('data', () => {}).destroy().connect(80, 'x')",
        "const s = process.stdin.on('data', () => {}); s.connect(80, 'x')",
        "process.stdin.on('pipe', s => s.connect(80))",
        "require('fs').readFileSync('a', {flag: 'w+'})",
        "const o = {flag: 'w'}; require('fs').readFileSync('a', o)",
        "require('fs').readFileSync('a', {['fl' + 'ag']: 'w'})",
        "new Error.captureStackTrace({})",
        "function f() {} const o = { f(p) { return p } }; console.log(o.f(1))",
        "const o = { if(p) { return p } }; console.log(o.if(1))",
        "const o = { a: 1, while(p) { return p } }; console.log(o)",
    ],
)
def test_ways_to_more_than_a_text_shows_are_not_harmless(code: str) -> None:
    assert EXECUTE in does(("node", "-e", code))


@pytest.mark.parametrize(
    "code",
    [
        "const fs = require('fs'); const p = 'a'; { const q = 1, {p} = {p: '/etc/x'}; fs.writeFileSync(p, 'x') }",
        "const fs = require('fs'); const p = 'a'; { let q, p; [p] = ['/etc/x']; fs.writeFileSync(p, 'x') }",
        "const fs = require('fs'); const p = 'a'; { const {x: p} = {x: 'b'}; fs.writeFileSync(p, 'x') }",
    ],
)
def test_a_name_that_may_be_bound_again_is_no_constant(code: str) -> None:
    assert does(("node", "-e", code)) == ["WRITE ?", CODE]


@pytest.mark.parametrize(
    "code",
    [
        "process.stdin.on('data', d => console.log(String(d).length))",
        "let s = ''; process.stdin.setEncoding('utf8').on('data', d => s += d).on('end', () => console.log(s.length));",
        "console.log(require('fs').readFileSync('/dev/stdin', {encoding: 'utf8'}).length)",
        "if (1 > 0) { console.log(1) } else { if (2 > 1) { console.log(2) } }",
    ],
)
def test_everyday_code_stays_harmless(code: str) -> None:
    assert does(("node", "-e", code)) == [CODE]
