"""Writes big.c and big.rs into the folder given: what compilers are kept busy with."""
import pathlib
import sys

out = pathlib.Path(sys.argv[1])
body = ("int s = 0; for (int i = 0; i < a; i++) { switch ((b + i) % 7) { case 0: s += i * %d; break; "
        "case 1: s ^= b << 3; break; case 2: s += t[i & 15]; break; default: s -= a / (b + 1); } "
        "if (s > %d) s = s % 1000 + b; } return s;")


def c_function(i):
    return f"static int f{i}(int a, int b, const int *t) {{ {body.replace('%d', str(i * 31 + 7))} }}"


calls = " ".join(f"s += f{i}(s, c, t);" for i in range(500))
(out / "big.c").write_text("#include <stdio.h>\n" + "\n".join(map(c_function, range(500))) +
                           f"\nint main(int c, char **v) {{ int s = c, t[16] = {{c}}; {calls} return s + !v; }}\n")

rust = ["#![crate_type = \"lib\"]", "use std::collections::*;"]
for i in range(40):
    rust.append(f"""
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum T{i} {{ Leaf(u32), Pair(Box<T{i}>, Box<T{i}>), Many(Vec<T{i}>, BTreeMap<String, T{i}>) }}
impl T{i} {{
    pub fn fold<A, F: Fn(A, u32) -> A + Copy>(&self, zero: A, f: F) -> A {{
        match self {{
            T{i}::Leaf(n) => f(zero, *n + {i}),
            T{i}::Pair(a, b) => b.fold(a.fold(zero, f), f),
            T{i}::Many(v, m) => m.values().chain(v).fold(zero, |a, t| t.fold(a, f)),
        }}
    }}
    pub fn words(&self) -> HashMap<String, Vec<u64>> {{
        let mut out: HashMap<String, Vec<u64>> = HashMap::new();
        self.fold((), |(), _| ());
        for (i, c) in format!("{{self:?}}").split(',').filter(|s| s.len() > 2).enumerate() {{
            out.entry(c.trim().to_uppercase()).or_default().push(i as u64);
        }}
        out
    }}
}}""")
(out / "big.rs").write_text("\n".join(rust) + "\n")
