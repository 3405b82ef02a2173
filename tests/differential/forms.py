"""Forms of shell syntax that readers get wrong, written by hand. None says what it means: bash and shfmt do."""

from __future__ import annotations

REDIRECTS = r"""
echo a > f b
echo > f a b
> f echo a
> f
>f>g echo a
< in > out cat
cat < in > out extra words
echo a 2>&1 b
echo a >&2 b
echo a>b
echo a 2>b
echo a2>b
echo 2 >b
echo 2>b
echo "2">b
echo \2>b
echo x2>b
echo 12>b c
echo -1>b
echo a >& f b
echo a &> f b
echo a &>> f b
echo a &>f&
echo a & >f
echo a 2&>f
echo a >|f b
echo a >| f
cat <> f b
cat <>f
cat 3<>f
exec {fd}>f
exec {fd}>&-
exec {fd}<&3
echo {fd}>f x
echo {fd} >f
echo {1d}>f
echo {a,b}>f
echo {a}{b}>f
echo x{fd}>f
exec 3>&-
exec 3<&-
exec 3>&1-
exec 3<&1-
echo a >&- b
echo a >&-b
echo a <&-b
echo a >& - b
echo a >&1b
echo a >&$fd b
echo a <&$fd
echo a >"f g" b
echo a >$(date) b
echo a >`date` b
echo a > >(cat) b
cat < <(ls) b
cat <(ls) <(pwd)
cat a<(ls)b
cat 2<(ls)
cat <(ls)>f
tee >(cat) >(wc)
diff <(sort a) <(sort b) > out
cat <<<word x
cat <<<"a $b" x
cat <<< $(ls) x
cat <<<'a'b"c"
cat<<<a
cat 3<<<a
<<<a cat
> f > g >h
echo > 2 a
echo > 2>f
echo < 2<f
echo >a=b
>f a=1 cmd
>f a=1 b=2 >g cmd
a=1 >f b=2 cmd
a=1 >f cmd b=2
>f a=(1 2)
a=1 >f b=(1)
>f if
>f { ls
2>&1 ls
ls 2>&1 | cat
ls 2>&1|cat
ls |& cat
ls|&cat
ls >f|cat
ls >f&&cat
ls >f;cat
(ls)>f
(ls)>f 2>&1
{ ls; }>f
{ ls; } >f <g
while read x; do echo; done <f
while read x; do echo; done < <(ls)
if a; then b; fi >f 2>g
for x in a; do b; done | c >f
case a in b) c;; esac >f
[[ a ]] >f
((a)) >f
[[ -f x ]] 2>/dev/null && echo
(ls) foo
{ ls; } foo
{ ls; } >f foo
ls > 
ls >
ls <
ls >;
ls > # f
ls >&
ls &>
ls <<
ls <<;
ls > >
ls > > f
ls >( 
echo a>b>c d
echo a>b c>d e
echo 1>2 3>4 5
echo a 1> b 2>c
echo >>f a
echo >> f a >>g
echo a>>b
echo a 2>>b
echo a >>&b
echo a >&>b
echo a <&>b
echo >!f
echo >&!f
"""

QUOTES = r"""
echo 'a b' "c d" e\ f
echo a'b'c"d"e\f
echo ''
echo ""
echo '' "" a
echo a''b
echo "a\"b" "a\\b" "a\$b" "a\`b" "a\nb" "a\'b"
echo 'a\'b
echo \'a\'
echo \"a\"
echo \a\b\ \c
echo "a'b'c"
echo 'a"b"c'
echo $'a\nb' $'a\tb' $'\x41\102\u0043\U00000044'
echo $'it\'s' x
echo $'a\\' x
echo $'\e[1m' $'\ca' $'\cA' $'\c?'
echo $'\q\z'
echo $'\0001x'
echo $'\x4' $'\x414'
echo $'\xc3\xa9'
echo $"a $b"
echo "$'a'"
echo "$"
echo "a$"
echo $
echo $ a
echo a$
echo a$b$
echo $"a"$'b'"c"'d'e
echo "$$"
echo "$(echo "a")"
echo "$(echo "a b" 'c d')"
echo "$(echo "$(echo "x")")"
echo "a `echo b` c"
echo "a `echo "b"` c"
echo "a `echo \"b\"` c"
echo "a `echo \`b\`` c"
echo `echo \`echo \\\`echo a\\\`\``
echo `echo '`'`
echo `echo \$x`
echo `echo '\$x'`
echo "`echo '\$x'`"
echo `a`b`c`
echo ``
echo `# comment`
echo `ls # comment`
echo "${x}" "${x:-a b}" "${x:-"a b"}" "${x:-'a b'}"
echo ${x:-a b} ${x:-"a b"} ${x:-'a b'}
echo ${x:-'}'} ${x:-"}"} ${x:-\}}
echo "${x:-'}'}"
echo "${x:-\}}"
echo "${x:-it's}"
echo ${x:-it's}
echo "${x:-'$(ls)'}"
echo ${x:-'$(ls)'}
echo "${x%'$(ls)'}"
echo "${x#"$(ls)"}"
echo ${x:-$(ls)} ${x:-`ls`} ${x:-$((1+2))} ${x:-${y:-$(ls)}}
echo ${x:-{a,b}}
echo {${x:-a,b}}
echo ${x:-<(ls)}
echo "${x:-<(ls)}"
echo ${x/a/b} ${x//a/b} ${x/#a/b} ${x/%a/b} ${x//\//_} ${x///_}
echo "${x//'/'/_}" "${x//"/"/_}" ${x/$(a)/$(b)}
echo ${x:1} ${x:1:2} ${x: -1} ${x:$y:$z} ${x:(-1)} ${x:a?b:c:2}
echo ${#x} ${#} ${#@} ${#x[@]} ${##} ${#-} ${#?} ${#-x} ${#:-x} ${#/a/b} ${#%a}
echo ${!x} ${!x*} ${!x@} ${!x[@]} ${!x[*]} ${!x:-y} ${!1} ${!#} ${!}
echo ${x@P} ${x@Q} ${x[@]@A} ${x^} ${x^^} ${x,} ${x,,} ${x~} ${x~~} ${x^^[a-z]}
echo ${x[1]} ${x[$i]} ${x[$(ls)]} ${x[a b]} ${x["a"]} ${x['a']} ${x[@]:1:2}
echo ${x?} ${x:?} ${x:?a b} ${x=a} ${x:=a} ${x+a} ${x:+a}
echo ${1} ${10} $10 ${@} ${*} ${?} ${$} ${!} ${-} ${_}
echo $@ $* $# $? $- $$ $! $0 $1 $_
echo ${x
echo ${
echo ${}
echo ${x.y}
echo ${x y}
echo ${ ls; }
echo ${|ls;}
echo $((1+2)) $(( 1 + 2 )) $((x)) $(($x)) $((x[1])) "$((1))"
echo $(( (1+2) * 3 )) $((1<<2)) $(( a ? b : c )) $((a,b)) $((a&&b))
echo $(( $(ls) + `ls` + ${x:-1} )) $(("1" + '2'))
echo $(( '$(ls)' )) $(( "$(ls)" )) $((a[$(ls)]))
echo $((ls) ) $((ls) | cat) $( (ls) ) $((ls); (cat)) $(((1))) $(((ls)) )
echo $((echo a); echo b)
echo $((case a in a) ls;; esac))
echo $[1+2] $[ $x + 1 ] "$[1]" $[a[1]] $[$(ls)]
echo $((
echo $((1)
echo $[1
echo $(
echo $(ls
echo `ls
echo "a
echo 'a
echo $'a
echo $"a
echo a\
"""

COMMENTS = r"""
# a
ls # a
ls #a
ls#a
ls a#b
ls a #b c
ls "#a" '#b' \#c
ls ;#a
ls;# a
ls &# a
ls|# a
echo $(ls # a)
echo $#
echo ${#x}
echo ${x#y}
echo $((16#ff))
a=#b
a= #b
a=(#b
case a in #b
[[ a ]] # b
((a)) # b
{ # b
( # b
"""

LISTS = r"""
a;b
a;b;
a; b & c && d || e
a&b
a&b&
a & b &
a&&b||c
a|b|c
a|b&&c|d
a;
a&
;
;;
&
&&
||
|
a;;
a;;b
a;;&
a;&
a ; ; b
a & ; b
a ; & b
a && ; b
a && & b
a &&
a ||
a |
a |&
a | | b
a || || b
a && || b
&& a
|| a
| a
; a
& a
a ) b
( a
( a )
(a)
()
( )
(a;b)
(a)b
(a)(b)
(a) | (b)
(a) && (b)
((a) )
( (a))
((a);(b))
( (a) (b) )
{ a; }
{ a }
{a; }
{ a;}
{ a; b; }
{ a & }
{ (a) }
{ { a; } }
{ { a; }; }
{(a)}
{(a) }
{ }
{}
{
}
{ a; } }
a }
a { b
a {b} {} }
{ a;} | b
! a
! a | b
!a
! !a
! ! a
!
! ; a
! # x
a | ! b
a && ! b
! (a)
!(a)
! { a; }
time a
time -p a
time -p -- a
time -- a
time
time ; a
time | a
time & a
time -x a
time time a
time ! a
! time a
a | time b
a && time b
time (a)
time { a; }
time -p
(time a)
(time)
{ time; }
time a=1 b
"time" a
\time a
'if' a
i\f a
"if" true
if=1
if() { a; }
then
fi
done
do a
else
elif
esac
in
in a
]]
[[
}
echo if then else fi do done case esac { } ! [[ ]] time in
a=1 if
a=1 { b
a=1 (b)
a (b)
a(b)
a b (c)
"""

COMPOUNDS = r"""
if a; then b; fi
if a; then b; else c; fi
if a; then b; elif c; then d; else e; fi
if a; then b; elif c; then d; elif e; then f; fi
if a then b; fi
if a; then; fi
if a; then b fi
if ; then a; fi
if a; b; then c; fi
if (a) then b; fi
if { a; } then b; fi
if [[ a ]] then b; fi
if ((a)) then b; fi
if a; then (b) fi
if a; then { b; } fi
if a; then { b; } >f fi
if ! a; then b; fi
if a | b; then c; fi
if a && b; then c; fi & d
if a; then b; fi c
if a; then b; fi; fi
if if a; then b; fi; then c; fi
while a; do b; done
until a; do b; done
while a; b; do c; d; done
while a do b; done
while (a) do b; done
while a; do done
while a; do b done
while :; do (a) done
while a; do b; done c
while a; { b; }
while read -r x; do echo "$x"; done < f | cat
for x in a b c; do d; done
for x in; do d; done
for x; do d; done
for x do d; done
for x in a b do d; done
for x in a b; { d; }
for x; { d; }
for x { d; }
for x in a & do b; done
for x in "$@"; do d; done
for x in $(ls) `ls` *.c {1..3} {a,b}; do d; done
for x in a; do b; done > f
for if in a; do b; done
for in in in; do in; done
for do in do; do do; done
for 1x in a; do b; done
for $x in a; do b; done
for "x" in a; do b; done
for x y in a; do b; done
for x in a;; do b; done
for x in a; done
for ((i=0;i<3;i++)); do a; done
for ((i=0;i<3;i++)) do a; done
for ((i=0;i<3;i++)) { a; }
for ((i=0;i<3;i++)); { a; }
for (( ; ; )); do a; done
for ((;;)) do a; done
for ((i=$(ls);i<`ls`;i++)); do a; done
for (i=0;i<3;i++); do a; done
for ((a)); do b; done
select x in a b; do c; done
select x; do c; done
case a in b) c;; esac
case a in (b) c;; esac
case a in b|c) d;; (e|f) g;; *) h;; esac
case a in b) c; esac
case a in b) c esac
case a in b) esac
case a in b) ;; esac
case a in esac
case a in (esac) b;; esac
case a in esac) b;; esac
case a in a|esac) b;; esac
case a in b) c;& d) e;;& f) g; esac
case a in b) c;; d) e
case a in b) if x; then y; fi;; esac
case a in b) (c);; esac
case a in b) { c; } esac
case a in b) (c) esac
case "$a" in "b c") d;; 'e') f;; \g) h;; $i) j;; $(k)) l;; esac
case $(a) in [a-z]*) b;; ?) c;; esac
case a in a=b) c;; [a b]) d;; esac
case a in if) b;; then) c;; esac
case a in b) c;; esac | d
case a in b) c;; esac; d
case a in b c) d;; esac
case a b in c) d;; esac
case a c) d;; esac
case in in in) in;; esac
case a in ;; esac
case a in b) ;; ;; esac
case a in b) c;;; esac
case a in b |) c;; esac
case a in () c;; esac
case a in b
case x in *\)*) y;; esac
echo $(case a in b) c;; esac)
echo $(case a in (b) c;; esac)
echo "$(case a in b) c;; esac)"
f() { a; }
f () { a; }
f ( ) { a; }
f() ( a )
f() if a; then b; fi
f() while a; do b; done
f() [[ a ]]
f() ((a))
f() case a in b) c;; esac
f() for x in a; do b; done
f() a
f() { a; } > f 2>&1
f() { a; } | b
f() { a; }; f
f() { a; } b
f(){ a; }
f(){ a;}
f() {a; }
f( a ) { b; }
f() g() { a; }
function f { a; }
function f() { a; }
function f () { a; }
function f ( a )
function f if a; then b; fi
function f [[ a ]]
function f ((a))
function f a
function f
function { a; }
function f { a; } > g
function f { a; } b
function if { a; }
function f-g.h { a; }
f-g.h:i() { a; }
a+b() { c; }
a=b() { c; }
"f"() { a; }
$f() { a; }
f\ g() { a; }
f() { g() { a; }; }
coproc a
coproc a b c
coproc { a; }
coproc f { a; }
coproc f ( a )
coproc f while a; do b; done
coproc a | b
coproc if a; then b; fi
coproc f if
coproc a=1 b
coproc >f a
coproc a >f
coproc
coproc ;
coproc f() { a; }
coproc "f" { a; }
coproc time a
coproc a { b
coproc a b { c
"""

TESTS = r"""
[[ a ]]
[[ ! a ]]
[[ -f a ]]
[[ -f a && -d b || -n "$c" ]]
[[ ( a || b ) && c ]]
[[ (a) ]]
[[ !a ]]
[[ ! ( a ) ]]
[[ ! ! a ]]
[[ a == b ]]
[[ a = b ]]
[[ a != b* ]]
[[ a < b ]]
[[ a > b ]]
[[ a<b ]]
[[ 1<2 ]]
[[ 1 < 2 ]]
[[ 1 -lt 2 ]]
[[ a -nt b ]]
[[ a == [a-z]* ]]
[[ a == "b c" ]]
[[ $a == $(b) ]]
[[ $a == @(b|c) ]]
[[ $a == *(b|c)d ]]
[[ $a == @(b|$(c)) ]]
[[ $a != !(b) ]]
[[ $a =~ ^[0-9]+$ ]]
[[ $a =~ (b|c) ]]
[[ $a =~ (b c) ]]
[[ $a =~ a|b ]]
[[ $a =~ ^(a|b)c{1,2}$ ]]
[[ $a =~ "b c" ]]
[[ $a =~ \.txt$ ]]
[[ $a =~ $b ]]
[[ $a =~ [[:space:]] ]]
[[ $a =~ [ab c] ]]
[[ $a =~ (b)) ]]
[[ $a =~ ((b)c) ]]
[[ $a =~ $(b) ]]
[[ $a =~ ($(b)) ]]
[[ $a =~ b&&c ]]
[[ $a =~ b && c ]]
[[ $a =~ <b ]]
[[ $a =~ ]]
[[ $a =~ ^a\ b ]]
[[ $a =~ ^a$ && b ]]
[[ ($a =~ b) ]]
[[ a && b ]]
[[ a &&b]]
[[ a || b ]]
[[ a & b ]]
[[ a ; b ]]
[[ a | b ]]
[[ ]]
[[ a
[[ a b ]]
[[ a b c ]]
[[ a == ]]
[[ == a ]]
[[ -f ]]
[[ -f == a ]]
[[ -q a ]]
[[ -x ]]
[[ a -eq ]]
[[ -n a b ]]
[[ a ]] b
[[ a ]]b
[[a ]]
[[ a]]
[[ ]] ]]
[[ a == ]] ]]
[[ ) ]]
[[ ( a ]]
[[ a ) ]]
[[ () ]]
[[ if ]]
[[ if == then ]]
[[ a=b ]]
[[ a==b ]]
[[ {a,b} == {a,b} ]]
[[ ~ == ~/a ]]
[[ -v a[1] ]]
[[ -v a[$(b)] ]]
[[ a[1] == b ]]
[[ $(a) ]]
[[ <(a) ]]
[[ -f <(a) ]]
[[ a <(b) ]]
[[ "$a" && `b` ]]
[[ '!' == a ]]
[[ ! == a ]]
[[ -z "" ]]
[[ -a b ]]
[[ a -a b ]]
[[ a -o b ]]
[[ # b
[ a ]
[ a = b ]
[ -f a ] && b
[ a
[ a -a b ] ; ] c
test a = b
((a))
((a+b))
(( a > b ))
(( a < b && c ))
((a)) && b
((a);b)
((a) )
((a)b)
((a) | b)
(( (a) ))
(((a)))
(((a)))b
((a=1,b=2))
((a[$(b)]))
(( $(a) ))
(( "a" ))
(( 'a' ))
(( 'a)' ))
((
((a)
((a
a ((b))
(( a << 2 ))
((echo a); echo b)
( (a); (b) )
((a) && (b))
((a)||(b))
(((a);b);c)
"""

ASSIGNMENTS = r"""
a=1
a=
a= b
a=1 b=2
a=1 b
a=1 b c=2
a+=1
a+= b
a=b=c
a==b
a="b c" d
a='b'c
a=$b$c
a=$(b) c
a=`b` c
a=~ b=~/c:~d:e
a=b:~/c
a=b~c
a="~"
a=*
a={b,c}
a=b{c,d}
a=$((1)) b
a=<(b)
a=b>c d
a=b;c
a=b&c
a=(b)
a=(b c)
a=( b c )
a=()
a=(b)c
a=(b) c
a=(b);c
a=(b) d=(e) f
a+=(b)
a=([0]=b [1]=c d)
a=([x y]=b)
a=([$(b)]=c)
a=([a-z]* b)
a=({1..3} *.c $(d) "e f")
a=(b # c
a=(b;c)
a=(b|c)
a=(b&c)
a=(b(c))
a=(b>c)
a=(1>b)
a=(if then)
a=(b
a=(
a[0]=b
a[$(b)]=c
a[b c]=d
a[b]=
a[b]+=c
a["b"]=c
a['$(b)']=c
a[b[c]]=d
a[b]=(c)
a[b
a[b]
a[b c]
a[b]c=d
a [b]=c
a =b
a = b
=a
1a=b
a-b=c
"a"=b
a"b"=c
a\b=c
$a=b
a$b=c
-a=b
a.b=c
a=1 b=(2) c
echo a=1 a=(b)
echo a=~ a=b:~ --a=~ -a=~/b 1=~
echo ~ ~/a ~b ~b/c a~ "~" '~' \~ ~"b" ~$b ~+ ~- ~1 ~:a a:~
declare a=1 b
declare -a a=(b c)
declare -A a=([b]=c [d]="e f")
declare a=(b) c=(d) e
declare a=(b)c
export a=b c=d
export a=(b)
local a=(b)
readonly a=(b) c
typeset a=(b)
alias a=b
eval a=(b)
let a=(b)
echo a=(b)
command declare a=(b)
builtin declare a=(b)
declare >f a=(b)
>f declare a=(b)
a=1 declare b=(c)
"declare" a=(b)
\declare a=(b)
declare "a=(b)"
declare a[0]=b
declare a[0]=(b)
declare a+=(b)
declare a={b,c}
declare a=~/b:~/c
"""

BRACES = r"""
echo {a,b} {a,b,c} x{a,b}y {a,b}{c,d}
echo {a} {} {a,} {,a} {,} {a,b {a b} a,b} {a,{b,c}} {{a,b},c} {a,b}}
echo {1..3} {3..1} {01..03} {1..10..2} {10..1..3} {a..e} {e..a} {a..e..2} {-1..1} {1..a} {1..} {..1} {1...3}
echo {a,"b c"} {"a,b"} {"a",b} {a\,b} {a,\}} {'{a,b}'} \{a,b} {a,b\} "{a,b}" {a,b"}"
echo {$a,$b} ${a,b} {${a},b} {$(a,b),c} {$(a),`b`} {`a,b`,c} $({a,b}) {a,$((1,2))}
echo {~,a} {~/b,c} a{~,b} ~{a,b} {a,~}
echo {*,?}.c {[a,b]} {[a,b],c} [{a,b}]
echo {a,b}=c a={b,c} {a=1,b=2}
echo {a,b}$'c' {$'a',b}
echo {a..c}{1..2} {{1..3},a} {a,{1..3}} {1..3}{ {a,b}c
echo {0..9}{0..9}{0..9} {1..100000} {1..3..0} {1..3..-1} {A..c} {a..C}
echo {a,b}/{c,d} /{usr,bin}/ {/a,/b} {-a,--b}
{ls,-l}
{rm,-rf,/}
{a,b} c
{a, b}
{a,b}>f
{a}>f
a{b,c}>f d
ls {a,b}|cat
(echo {a,b})
for x in {a,b} {1..3}; do c; done
case {a,b} in {a,b}) c;; esac
echo <<<{a,b}
cat <<<{a,b}
echo {<(a),<(b)}
echo {a<(b),c}
echo a{b,c}(d)
echo {$,x}y {"$",x}y
echo {a,b}\
echo x{,y,z}w{1,2}
echo {"a}",b} {'a,',b} {a,b'} c'}
"""


def _lines(block: str) -> list[str]:
    return [line for line in block.strip("\n").split("\n") if line]


MANY_LINES = [
    "a\nb",
    "a\n\n\nb\n",
    "\n\na",
    "a &\nb",
    "a;\nb",
    "a\n;b",
    "a &&\nb",
    "a &&\n\n# c\nb",
    "a ||\n\tb",
    "a |\nb",
    "a |& \n b",
    "a\n&& b",
    "a\n| b",
    "a\n) b",
    "a # c\nb",
    "a # c \\\nb",
    "# c \\\nb",
    "a #c\\\nb",
    "#\\\nb",
    "a;#c\\\nb",
    "echo $(#c\\\nb\n)",
    "a;\\\n#b\nc",
    "a \\\n#b\nc",
    "a (\\\n) { b; }",
    "(\\\n#c\na)",
    "a \\\nb",
    "a\\\nb",
    "a\\\n b",
    "a \\\n\\\n b",
    "a\\\n\\\nb",
    "\\\na",
    "a \\\n# b",
    "a\\\n# b",
    "a &\\\n& b",
    "a |\\\n| b",
    "a |\\\n& b",
    "a ;\\\n; b",
    "a >\\\n> b",
    "a >\\\n& b",
    "a <\\\n<\\\n< b c",
    "a <\\\n(b)",
    "a 2\\\n>b",
    "a 2>\\\n&1",
    "a 2>&\\\n1",
    "a >\\\nb c",
    "i\\\nf a; then b; fi",
    "if a; the\\\nn b; fi",
    "{\\\n a; }",
    "a=\\\nb c",
    "a\\\n=b c",
    "a=\\\n(b c)",
    "a[1\\\n]=b",
    'echo "a\\\nb"',
    "echo 'a\\\nb'",
    'echo "$a\\\nb"',
    'echo "$\\\na"',
    'echo "$\\\n(a)"',
    "echo $\\\n(a)",
    "echo $\\\n{a}",
    "echo ${a\\\nb}",
    "echo ${a:\\\n-b}",
    "echo ${a:-\\\nb}",
    'echo "${a\\\n:-b}"',
    "echo $(\\\na)",
    "echo $(\\\n(1))",
    "echo $((\\\n1))",
    "echo $((1)\\\n)",
    "((a)\\\n)",
    "(\\\n(a))",
    "echo `a\\\nb`",
    "echo $'a\\\nb'",
    "echo a\\\n'b'\\\nc",
    "echo \\\\\nb",
    "echo \\\\\\\nb",
    "echo ~\\\n/a",
    "echo {a,\\\nb}",
    "a\\\n(\\\n) { b; }",
    "f()\n{ a; }",
    "f()\n\n# c\n{\na\n}",
    "f (\n) { a; }",
    "function f\n{\na\n}",
    "function f()\n{ a; }",
    "if a\nthen b\nfi",
    "if\na\nthen\nb\nelse\nc\nfi\n",
    "if a # c\nthen # d\nb # e\nfi # f",
    "while a\ndo\nb\ndone",
    "for x in a b\ndo\nc\ndone",
    "for x\nin a b\ndo c\ndone",
    "for x\n\nin a\n\ndo c\ndone",
    "for x\ndo c\ndone",
    "for x\n{ c; }",
    "for x in a\n{ c; }",
    "for x;\ndo c; done",
    "for x\n; do c; done",
    "for ((i=0;\ni<3;i++))\ndo a\ndone",
    "for ((;;))\n{ a; }",
    "case a in\nb) c ;;\nd)\ne\n;;\nesac",
    "case a\nin\n\n(b) c\nesac",
    "case a in b)\nesac",
    "case a in\n# c\nb) d;; # e\n# f\nesac",
    "case a in b) c\n;; esac",
    "case a in b) c;;\n\n;; esac",
    "case a in b |\nc) d;; esac",
    "{\na\n}",
    "(\na\n)",
    "( a\nb )",
    "[[ a\n]]",
    "[[ a == b\n]]",
    "[[\na ]]",
    "[[ a == b &&\nc ]]",
    "[[ a == b\n&& c ]]",
    "[[ a ==\nb ]]",
    "[[ (\na == b\n) ]]",
    "[[ -f\na ]]",
    "[[ $a =~ (b\nc) ]]",
    "a=(b\nc)",
    "a=(\n# c\nb # d\n)",
    "a=(b \\\nc)",
    "declare a=(\nb\n)",
    "echo $(a\nb)",
    "echo $(\na\n)",
    "echo $(a # b\n)",
    "echo $(# b\na)",
    "echo `a\nb`",
    'echo "a\nb" c',
    "echo 'a\nb' c",
    "echo ${a:-b\nc}",
    "echo $((1\n+2))",
    "((1\n+2))",
    "time\na",
    "! \na",
    "coproc\na",
    "a\nif b\nc",
    "a\nb 'c",
    "a\n(b",
    "a\nb)\nc",
    "a;b\nc;d)\ne",
    "a\n;;\nb",
    "a\n$(b\n",
    "if a; then\nb\n'c\nfi",
    "echo a\r\nb\r\n",
    "a\r",
    "a \r b",
    "cat <<E\r\nb\r\nE\r\nc",
    "if a; then\r\nb\r\nfi\r\n",
    "a\t\tb\t;\tc",
    " \t a",
    "\ta\n\tb",
    "a\xa0b",
    "a b\u2028c",
    "écho ünï 'côdé'",
    "echo \udcff",
    "echo '\udcff\udc80' x",
    "echo a\\\r\nb",
    "case a in b) c ;;\\\n& d) e;; esac",
    "if a; then b; fi\nif c; then d; fi",
    "a && {\nb\n} || {\nc\n}",
    "a |\n# c\n{ b; }",
    "a; # b\nc",
    "a & # b\nc",
    "a && # b\nc",
    "case a in ( #esac) ;; esac",
    "case #a in b) c;; esac",
    "for #a in b; do c; done",
    "function #a { b; }",
    "coproc #a",
    "[[ a == #b ]]",
    "a=(#b\nc)",
    "a[>('$(b)']=c",
    "exec <<< {fd}>f",
    "a <&{b}>f",
    "for x in {a}>f; do b; done",
    "echo $((a) && (b) | a # c \\\nb\n)",
    "cat <((a) | b # c \\\nd\n)",
    "echo $(a=(\\(b))",
    'echo $(a=(\\"b c))',
    "echo $(a=(b \\\nc))",
    "local a=(b)a=(b)",
    "a=(b)a=(b)",
    "a=(b)>f c",
    "[[ a <<(b) ]]",
    "[[ a >&b ]]",
    "{<(a),<(b)}",
    "if<(a) b",
    "time<(a) b",
    "{>f",
    "echo $(time f() { a; })",
    "echo $(time a | b)",
    "echo $(time -p a)",
    "echo $(time --<<< a)",
    "time --<<< a",
    "time -p>f a",
    "time -pa",
    'echo "${x:-<(do a)}"',
    'echo "${x:-<a>}"',
    "echo {$[1,2],b}",
    "echo ${x:-a{b,c}d}",
    "echo $(( $'a\\'b' ))",
    'echo "$(( `a \\"b\\"` ))"',
    "x=[a:~/b] c=[~]",
]

DOCUMENTS = [
    "cat <<E\na\nE\nb",
    "cat <<E\na\nE",
    "cat <<E\na",
    "cat <<E",
    "cat <<E\n",
    "cat <<E\nE",
    "cat <<E\n\nE\n",
    "cat << E\na\nE\nb",
    "cat <<E x y\na\nE\nb",
    "cat <<E >f x\na\nE\nb",
    "cat >f <<E\na\nE\nb",
    "cat <<E | b\na\nE\nc",
    "cat <<E && b\na\nE\nc",
    "cat <<E; b\na\nE\nc",
    "cat <<E & b\na\nE\nc",
    "cat <<E |\na\nE\nb",
    "cat <<E &&\na\nE\nb",
    "cat <<E # c\na\nE\nb",
    "cat <<E <<F\na\nE\nb\nF\nc",
    "cat <<E <<F x\na\nE\nb\nF\nc",
    "a <<E | b <<F\na\nE\nb\nF\nc",
    "a <<E; b <<F\na\nE\nb\nF\nc",
    "cat <<E <<E\na\nE\nb\nE\nc",
    "cat 3<<E\na\nE\nb",
    "cat {fd}<<E\na\nE\nb",
    "<<E cat\na\nE\nb",
    "<<E\na\nE\nb",
    "cat <<'E'\n$(a) `b` $c \\\nE\nd",
    'cat <<"E"\n$(a)\nE\nb',
    "cat <<\\E\n$(a)\nE\nb",
    "cat <<E''\n$(a)\nE\nb",
    "cat <<'E'F\n$(a)\nEF\nb",
    "cat <<E'F'\n$(a)\nEF\nb",
    'cat <<"E F"\n$(a)\nE F\nb',
    "cat <<E\\ F\n$(a)\nE F\nb",
    "cat <<$'E'\n$(a)\nE\nb",
    'cat <<$"E"\n$(a)\nE\nb',
    "cat <<$E\na\n$E\nb",
    "cat <<${E}\na\n${E}\nb",
    "cat <<`E`\na\n`E`\nb",
    "cat <<$(E)\na\n$(E)\nb",
    "cat <<~\na\n~\nb",
    "cat <<*\na\n*\nb",
    "cat <<{a,b}\na\n{a,b}\nb",
    "cat <<a=b\na\na=b\nb",
    "cat <<''\na\n\nb",
    'cat <<""\na\n\nb',
    "cat <<1\na\n1\nb",
    "cat <<1>f\na\n1\nb",
    "cat <<E>f\na\nE\nb",
    "cat <<E;b\na\nE\nc",
    "cat <<E)\na\nE\nc",
    "cat <<-E\n\ta\n\tE\nb",
    "cat <<-E\n\t\ta\n  b\n\t\tE\nc",
    "cat <<-E\n a\n E\nb",
    "cat <<-E\na\nE\nb",
    "cat <<-'E'\n\t$(a)\n\tE\nb",
    "cat <<- E\n\ta\n\tE\nb",
    "cat <<-\tE\n\ta\n\tE\nb",
    "cat << -E\na\n-E\nb",
    "cat <<-E\n\t$(a\n\tb)\n\tE\nc",
    "cat <<-E\n\ta \\\n\tb\n\tE\nc",
    "cat <<-'\tE'\na\n\tE\nb",
    "cat <<E\n$(a)\nE\nb",
    "cat <<E\n$(a\nb)\nE\nc",
    "cat <<E\n`a`\nE\nb",
    "cat <<E\n`a \\`b\\``\nE\nc",
    "cat <<E\n${a:-$(b)}\nE\nc",
    "cat <<E\n${a:-'$(b)'}\nE\nc",
    'cat <<E\n${a:-"$(b)"}\nE\nc',
    "cat <<E\n$((1+$(a)))\nE\nb",
    "cat <<E\n$[1+$(a)]\nE\nb",
    "cat <<E\n$a ${b} \\$c \\\\ \\` \\\" \\d \"e\" 'f' $'g'\nE\nb",
    'cat <<E\n"$(a)"\nE\nb',
    "cat <<E\n'$(a)'\nE\nb",
    "cat <<E\n\\$(a)\nE\nb",
    "cat <<E\n\\\\$(a)\nE\nb",
    "cat <<E\na\\\nE\nb\nE\nc",
    "cat <<E\na\\\\\nE\nb",
    "cat <<E\nE\\\n\nb\nE\nc",
    "cat <<E\n\\\nE\nb\nE",
    "cat <<E\n\\E\nE\nb",
    "cat <<E\n E\nE \nE;\nE\nb",
    "cat <<E\n# a $(b)\nE\nc",
    "cat <<E\n<(a) >(b)\nE\nc",
    "cat <<E\n{a,b} * ~\nE\nb",
    "cat <<E\n$(cat <<F\na\nF\n)\nE\nb",
    "cat <<E\n$(cat <<F\nE\n)\nb",
    "cat <<E\n$(a\nE\nb",
    "cat <<E\n${a\nE\nb",
    "cat <<E\n`a\nE\nb",
    'cat <<E\n"a\nE\nb',
    "cat <<E\na'b\nE\nc",
    "echo $(cat <<E\na\nE\n)",
    "echo $(cat <<E\na\nE\n) b",
    'echo "$(cat <<E\na $(b)\nE\n)"',
    "echo \"$(cat <<'E'\na 'b \" $(c)\nE\n)\" d",
    "echo $(cat <<E\na)\nE\n)",
    "echo $(cat <<E\n(\nE\n)",
    "echo $(cat <<E\na\nE)",
    "echo $(cat <<E\na\nE )\nb",
    "echo $(cat <<E\nEcho a)\nE\n)",
    "echo $(cat <<E)\na\nE\nb",
    "echo $(cat <<E; b\na\nE\n) c",
    "echo `cat <<E\na\nE\n` b",
    "echo `cat <<E\na\nE` b",
    "cat <(cat <<E\na\nE\n) b",
    "cat <<E $(b\nc)\na\nE\nd",
    "cat <<E $(cat <<F\na\nF\n) x\nb\nE\nc",
    'cat <<E "b\nc"\na\nE\nd',
    "cat <<E ${b:-\nc}\na\nE\nd",
    "cat <<E \\\nb\na\nE\nc",
    "cat <<\\\nE\na\nE\nc",
    "cat <<E\\\nF\na\nEF\nc",
    "cat <\\\n<E\na\nE\nc",
    "if a; then cat <<E\nb\nE\nfi",
    "if a; then cat <<E; fi\nb\nE\nc",
    "while read x; do a; done <<E\nb\nE\nc",
    "while read x <<E; do\na\nE\nb; done",
    "for x in a; do cat <<E\nb\nE\ndone",
    "for x in a <<E; do b; done\nE",
    "case a in b) cat <<E;;\nc\nE\nesac",
    "case a in b) cat <<E\nc\nE\n;; esac",
    "{ cat <<E\na\nE\n}",
    "{ cat <<E; }\na\nE\nb",
    "{ a; } <<E\nb\nE\nc",
    "( cat <<E\na\nE\n)",
    "( cat <<E )\na\nE\nb",
    "(cat <<E)\na\nE\nb",
    "f() { cat <<E\na\nE\n}",
    "f() { cat <<E; }\na\nE\nb",
    "f() { a; } <<E\nb\nE\nc",
    "[[ a ]] <<E\nb\nE\nc",
    "a=$(cat <<E\nb\nE\n) c",
    "a=(b) cat <<E\nc\nE\nd",
    "cat <<E; a=(\nb\nE\n)",
    "cat <<E; a=(b\nc)\nd\nE\ne",
    "a <<E && b <<F || c\nd\nE\ne\nF\nf",
    "a | b <<E | c\nd\nE\ne",
    "sudo tee f <<E >/dev/null\na\nE\nb",
    "cat <<E\na\nE\ncat <<E\nb\nE\n",
    "a 'b\nc' <<E\nd\nE\ne",
    "coproc cat <<E\na\nE\nb",
    "time cat <<E\na\nE\nb",
    "! cat <<E\na\nE\nb",
    "((a)) <<E\nb\nE\nc",
    'cat <<EOF > f.py\nimport os\nprint(f"{os.getcwd()}")\nEOF\npython f.py',
    "python - <<'PY'\nx = \"it's\"\nprint(f'{x!r} $(a) `b`')\nPY\necho done",
    'git commit -m "$(cat <<\'EOF\'\nIt\'s "done" (mostly) `now`\n\n$(a)\nEOF\n)" && b',
    "cat <<E1 <<E2 <<E3 <<E4 <<E5 <<E6 <<E7 <<E8 <<E9 <<E10 <<E11 <<E12 <<E13 <<E14 <<E15 <<E16 <<E17\n",
]

FORMS: list[str] = [
    *_lines(REDIRECTS),
    *_lines(QUOTES),
    *_lines(COMMENTS),
    *_lines(LISTS),
    *_lines(COMPOUNDS),
    *_lines(TESTS),
    *_lines(ASSIGNMENTS),
    *_lines(BRACES),
    *MANY_LINES,
    *DOCUMENTS,
]

SHFMT_DIFFERS: list[str] = [
    "echo a >&-b",
    "echo a <&-b",
    'echo "a `echo \\"b\\"` c"',
    'echo "a `echo \\`b\\`` c"',
    "echo `echo \\`echo \\\\\\`echo a\\\\\\`\\``",
    "echo `echo '\\$x'`",
    "echo \"`echo '\\$x'`\"",
    "echo \"${x:-'$(ls)'}\"",
    "echo ${x:-<(ls)}",
    "echo $(( '$(ls)' )) $(( \"$(ls)\" )) $((a[$(ls)]))",
    "time -p -- a",
    "time -- a",
    "a | time b",
    "coproc a >f",
    "[[ $a == @(b|$(c)) ]]",
    "a+= b",
    "a['$(b)']=c",
    "a # c \\\nb",
    "a #c\\\nb",
    "a=\\\n(b c)",
    'echo "$\\\n(a)"',
    "echo $(\\\n(1))",
    "(\\\n(a))",
    "a\r",
    "a \r b",
    "echo a\\\r\nb",
    "time --<<< a",
    "cat <<'E'F\n$(a)\nEF\nb",
    "cat <<E\n`a \\`b\\``\nE\nc",
    "cat <<E\n${a:-'$(b)'}\nE\nc",
    "cat <<E\nE\\\n\nb\nE\nc",
    "cat <<E\n\\\nE\nb\nE",
    "coproc cat <<E\na\nE\nb",
]
"""Forms that shfmt reads otherwise than bash does, and we as bash."""
