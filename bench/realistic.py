"""Commands as people and agents write them, of every length and shape: each form with several names in it."""

from __future__ import annotations

FORMS = r"""
find . -name '*.<ext>' | xargs wc -l
find . -type f -name '*.<ext>' -exec grep -Hn '<word>' {} \;
find . -name '*.<ext>' -print0 | xargs -0 sed -i 's/<word>/<name>/g'
find <dir> -type f -mtime -7 | sort | head -50
find <dir> -type d -empty -delete
find . -maxdepth 2 -name '<name>*' ! -path './node_modules/*'
find <dir> -name '*.<ext>' | while read -r f; do echo "$f: $(wc -l < "$f")"; done
find . -name '*.tmp' -exec rm -f {} +
find / -name '<name>.conf' 2>/dev/null
find <dir> -type f -size +10M -exec ls -lh {} \; | awk '{print $5, $9}'
grep -rn '<word>' <dir> --include='*.<ext>' | head -40
grep -rlE '<word>|<name>' <dir> | sort -u | xargs -I{} basename {}
grep -c '<word>' <dir>/*.<ext> | grep -v ':0'
rg -n --hidden -g '!.git' '<word>' <dir>
rg -l '<word>' -t py | xargs sed -n '1,20p'
ls -la <dir> | awk 'NR>1 {print $9}' | sort
ls -t <dir> | head -1
tree -L 2 <dir> -I 'node_modules|dist'
cat <dir>/<name>.<ext> | sed -n '10,60p'
sed -n '/^def <word>/,/^def /p' <dir>/<name>.py
sed -i 's/<word>/<name>/' <dir>/<name>.<ext>
awk -F, 'NR > 1 { total[$2] += $3 } END { for (k in total) print k, total[k] }' <name>.csv
awk '/<word>/ { found = 1 } found { print NR ": " $0 }' <dir>/<name>.<ext>
sort <name>.txt | uniq -c | sort -rn | head -20
cut -d: -f1 <name>.csv | tr '[:upper:]' '[:lower:]' | sort -u > <name>.txt
paste -d, <name>.txt <word>.txt | column -t -s,
diff -u <dir>/<name>.<ext> <dir>/<word>.<ext> | head -80
comm -12 <(sort <name>.txt) <(sort <word>.txt)
head -c 2000 <dir>/<name>.<ext> | xxd | head
tail -n 100 logs/<name>.log | grep -i error
wc -l $(git ls-files '*.<ext>')
du -sh <dir>/* | sort -h | tail -5
df -h . && free -m
ps aux | grep <name> | grep -v grep | awk '{print $2}'
kill -9 $(pgrep -f <name>)
lsof -i :3000 | tail -n +2
export <WORD>=<name> && echo "$<WORD>"
<WORD>=1 NODE_ENV=test npm test -- <name>
if [ -f <dir>/<name>.<ext> ]; then cat <dir>/<name>.<ext>; else echo missing; fi
[[ -d <dir> ]] && cd <dir> && ls
for f in <dir>/*.<ext>; do mv "$f" "${f%.<ext>}.bak"; done
for i in $(seq 1 5); do echo "<name> $i"; sleep 1; done
for f in `ls <dir>`; do echo `basename $f` `wc -c < $f`; done
while read -r line; do echo "${line#<word>}"; done < <name>.txt
case "$1" in <word>) echo a;; <name>) echo b;; *) exit 1;; esac
<name>() { local x="$1"; grep -n "$x" <dir>/*.<ext>; }; <name> <word>
mkdir -p <dir>/<name> && touch <dir>/<name>/__init__.py
cp -r <dir>/<name> /tmp/<name>-backup
mv <dir>/<name>.<ext> <dir>/<word>.<ext>
rm -rf <dir>/<name> build dist
rm -f <dir>/*.pyc
ln -s ../<dir> <name>
chmod +x scripts/<name>.sh
tar czf <name>.tar.gz <dir> --exclude=node_modules
tar xzf <name>.tar.gz -C /tmp && ls /tmp/<name>
unzip -l <name>.zip | tail -5
zip -r <name>.zip <dir> -x '*.git*'
cat > <dir>/<name>.<ext> <<'EOF'
line one of <name>
line two with $<WORD>
EOF
cat <<EOF | tee <name>.txt
today: $(date +%F)
user: $USER
EOF
echo "<name>: $(git rev-parse --short HEAD) `date +%s`" >> notes.txt
echo `echo \`echo <name>\`` `pwd` `hostname`
printf '%s\n' <name> <word> | sort -r
git status --short && git diff --stat
git diff HEAD~3 -- <dir>/<name>.<ext>
git log --oneline --since='2 weeks ago' -- <dir> | head
git log -p -S'<word>' --all -- <dir>/<name>.<ext>
git show HEAD:<dir>/<name>.<ext> | head -40
git blame -L 10,30 <dir>/<name>.<ext>
git checkout -b feature/<name>
git add <dir> && git commit -m "fix: <name> handles <word>"
git stash && git pull --rebase && git stash pop
git push -u origin feature/<name>
git branch --merged | grep -v main | xargs git branch -d
git grep -n '<word>' $(git rev-list --max-count=5 HEAD)
git ls-files | grep '\.<ext>$' | xargs cat | wc -l
npm install --save-dev <name>
npm run build -- --mode <word>
npx eslint <dir> --ext .<ext> --fix
yarn workspace <name> test
pnpm -C packages/<name> test
node -e "console.log(require('./package.json').version)"
node -e "const fs = require('fs'); fs.readdirSync('<dir>').forEach(f => console.log(f))"
python3 -c "import json; print(json.load(open('<name>.json'))['<word>'])"
python3 -c 'import os; [print(os.path.join(d, f)) for d, _, fs in os.walk("<dir>") for f in fs]'
python3 - <<'EOF'
from pathlib import Path
for path in Path("<dir>").rglob("*.<ext>"):
    print(path, len(path.read_text().splitlines()))
EOF
python3 -m pytest -q tests/unit/test_<name>.py -k <word>
pip install -r requirements.txt && pip freeze | grep <name>
. .venv/bin/activate && pytest tests/<name>
mypy <dir> --strict 2>&1 | tail -5
ruff check <dir> && ruff format --check <dir>
go test ./<dir>/... -run Test<Word> -v
go build -o bin/<name> ./cmd/<name>
cargo test <name> -- --nocapture 2>&1 | tail -20
make -j4 <name> 2>&1 | grep -E 'error|warning'
cmake -S . -B build && cmake --build build --target <name>
docker ps --filter name=<name> --format '{{.Names}}'
docker compose up -d <name> && docker compose logs --tail=50 <name>
docker exec -it <name> sh -c 'ls -la /app && cat /app/<name>.json'
docker build -t <name>:<word> -f docker/<name>.Dockerfile .
docker rm -f $(docker ps -aq --filter name=<name>)
kubectl get pods -n <name> -o jsonpath='{.items[*].metadata.name}'
kubectl logs deploy/<name> --since=10m | grep -i <word>
kubectl apply -f deploy/<name>.yaml --dry-run=client
helm template <name> charts/<name> | head -60
terraform plan -out=<name>.plan
aws s3 ls s3://<name>-bucket/<word>/ --recursive | tail
gcloud compute instances list --filter='name~<name>'
curl -sS https://api.example.com/v1/<name>/<word> | jq '.items[] | {id, name}'
curl -X POST -H 'Content-Type: application/json' -d '{"<word>": 1}' http://localhost:8080/<name>
curl -sI https://example.com/<name> | grep -i '^location'
wget -qO- https://example.com/<name>.txt | head
jq -r '.dependencies | keys[]' <name>.json
jq '.scripts.<word> = "<name>"' package.json > /tmp/<name>.json && mv /tmp/<name>.json package.json
yq '.services.<name>.image' docker-compose.yml
psql -d <name> -c 'select count(*) from <word>'
sqlite3 <name>.db '.schema <word>'
redis-cli get <name>:<word>
ssh <name>.example.com 'uptime; df -h | head -3'
scp <dir>/<name>.<ext> <name>.example.com:/tmp/
rsync -av --delete --exclude node_modules <dir>/ backup/<name>/
gh pr list --search '<word>' --json number,title --jq '.[].title'
gh run view --log-failed | tail -100
openssl x509 -in certs/<name>.pem -noout -dates
crontab -l | grep <name>
systemctl status <name> --no-pager | head -15
journalctl -u <name> --since '1 hour ago' | grep -c <word>
timeout 30 ./scripts/<name>.sh <word> || echo failed
nohup ./bin/<name> > logs/<name>.log 2>&1 &
xargs -a <name>.txt -n1 -P4 -I{} sh -c 'echo "$1"; test -f "$1"' _ {}
seq 1 10 | xargs -n1 -I{} echo "<name>-{}"
perl -pe 's/(\d+)/$1 + 1/ge' <name>.txt
ruby -e 'puts File.readlines("<name>.txt").grep(/<word>/)'
set -euo pipefail; cd <dir>; ls | wc -l; cd - >/dev/null
(cd <dir> && npm ci && npm run <word>) && echo ok
a=$(mktemp -d) && cp <name>.txt "$a" && ls "$a" && rm -rf "$a"
test "$(cat <name>.txt)" = "<word>" && echo same || { echo differs; exit 1; }
echo "${<WORD>:-<name>}" | tr a-z A-Z | rev
"""
NAMES = (
    {"name": "orders", "word": "total", "Word": "Total", "WORD": "TOTAL", "dir": "src", "ext": "py"},
    {"name": "cart", "word": "render", "Word": "Render", "WORD": "RENDER", "dir": "src/components", "ext": "ts"},
    {"name": "billing", "word": "invoice", "Word": "Invoice", "WORD": "INVOICE", "dir": "packages/core", "ext": "js"},
    {"name": "report", "word": "column", "Word": "Column", "WORD": "COLUMN", "dir": "tests/unit", "ext": "go"},
)


def new(number: int) -> list[str]:
    """Every form with every set of names, with a number that was not used before."""
    return [
        f"{_filled(form, names)} # {number}" if "\n" not in form else f"# {number}\n{_filled(form, names)}"
        for names in NAMES
        for form in forms()
    ]


def forms() -> list[str]:
    """One form is a line, or the lines up to the end of its here-document."""
    found: list[str] = []
    inside = False
    for line in FORMS.strip().split("\n"):
        if inside:
            found[-1] += f"\n{line}"
        else:
            found.append(line)
        inside = line != "EOF" and (inside or "<<" in line)
    return found


def _filled(form: str, names: dict[str, str]) -> str:
    for key, value in names.items():
        form = form.replace(f"<{key}>", value)
    return form
