"""Redacting: no secret reaches the disk, whatever it is and wherever it is; ordinary commands stay unchanged."""

from __future__ import annotations

import random
import string
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.contract import Record
from assent.trail import line, named, redact, shapes
from assent.trail.named import secret_kind
from tests.examples import examples

A62 = string.ascii_letters + string.digits
HEX = "0123456789abcdef"


def made(pattern: str, alphabet: str = A62, seed: int = 1) -> str:
    """A pattern with every `*` made a random character."""
    source = random.Random(f"{pattern}{seed}")
    return "".join(source.choice(alphabet) if each == "*" else each for each in pattern)


def stars(count: int) -> str:
    return "*" * count


SHAPES = {
    "aws access key": made(f"AKIA{stars(16)}", string.ascii_uppercase + string.digits),
    "google api key": made(f"AIza{stars(35)}"),
    "google token": made(f"ya29.{stars(60)}"),
    "google client secret": made(f"GOCSPX-{stars(28)}"),
    "azure client secret": made(f"***8Q~{stars(34)}"),
    "github token": made(f"ghp_{stars(36)}"),
    "github token of another kind": made(f"github_pat_{stars(22)}_{stars(59)}"),
    "gitlab token": made(f"glpat-{stars(20)}"),
    "slack token": made("xoxb-123456789012-1234567890123-" + stars(24)),
    "slack webhook": made(f"hooks.slack.com/services/T00000000/B00000000/{stars(24)}"),
    "npm token": made(f"npm_{stars(36)}"),
    "pypi token": made(f"pypi-AgEIcHlwaS5vcmc{stars(60)}"),
    "openai key": made(f"sk-proj-{stars(48)}"),
    "anthropic key": made(f"sk-ant-api03-{stars(90)}"),
    "stripe key": made(f"sk_live_{stars(24)}"),
    "hugging face token": made(f"hf_{stars(34)}"),
    "sendgrid key": made(f"SG.{stars(22)}.{stars(43)}"),
    "vault token": made(f"hvs.{stars(24)}"),
    "digitalocean token": made(f"dop_v1_{stars(64)}", HEX),
    "docker token": made(f"dckr_pat_{stars(27)}"),
    "telegram token": made(f"1234567890:AA{stars(33)}"),
    "age key": made(f"AGE-SECRET-KEY-1{stars(58)}", string.ascii_uppercase + string.digits),
    "json web token": made(f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI{stars(30)}.{stars(43)}"),
    "private key": "-----BEGIN OPENSSH PRIVATE KEY-----\n"
    + made(f"{stars(70)}\n" * 5)
    + "-----END OPENSSH PRIVATE KEY-----",
    "private key without its end": "-----BEGIN RSA PRIVATE KEY-----\\n" + made(f"{stars(64)}\\n" * 3),
    "high entropy": made(stars(40)),
    "base64": made(stars(43), A62 + "+/") + "=",
}
SECRET = "hunter-2-zebra"
# Where a secret is announced. `@` is the secret.
ANNOUNCED = """
mysql -u root -p@ shop
mysqldump -p'@' shop
sshpass -p @ ssh me@host
sshpass -p'@' ssh me@host
docker login -u me -p @ registry.example.com
redis-cli -h host -a @ ping
7z x -p@ backup.7z
unzip -P @ backup.zip
zip -r -P @ out.zip dir
ldapsearch -x -D cn=admin -w @ -b dc=example
mongosh --username me -p @ host
curl -u me:@ https://example.com
curl --user "me:@" https://example.com
curl -sS --proxy-user=me:@ https://example.com
openssl enc -aes-256-cbc -k @ -in a
openssl rsa -in key.pem -passin pass:@
htpasswd -b -c .htpasswd me @
kubectl create secret generic db --from-literal=pw=@
vault kv put secret/db value=@
smbclient //host/share -U me%@
sqlcmd -S host -U sa -P @
security add-generic-password -a me -s app -w @
gh secret set DEPLOY --body @
aws configure set aws_secret_access_key @
npm config set //registry.example.com/:_authToken @
git config --global user.password @
psql postgres://me:@@db.example.com:5432/shop
git clone https://me:@@example.com/a/b.git
https://example.com/x?user=me&api_key=@&page=2
https://example.com/x?access_token=@
https://example.com/x?sig=@
GITHUB_TOKEN=@ gh pr list
export AWS_SECRET_ACCESS_KEY='@'
export DB_PASSWORD="@" && make
env API_KEY=@ node app.js
PGPASSWORD=@ psql
$env:ADMIN_PASS = "@"
deploy --password @ --force
deploy --password=@ --force
deploy --db-password '@'
deploy --client-secret @
deploy --token @
deploy -token=@
deploy --api-key "@"
terraform apply -var db_password=@
curl -H "Authorization: Bearer @" https://example.com
curl -H 'Authorization: Basic @' https://example.com
curl -H "X-Api-Key: @" https://example.com
curl -H "PRIVATE-TOKEN: @" https://example.com
curl -b "session=1; Cookie: id=@" https://example.com
curl -d '{"user":"me","password":"@"}' https://example.com
curl -d "{\\"password\\":\\"@\\"}" https://example.com
curl -d 'user=me&password=@' https://example.com
echo @ | sudo -S apt update
echo '@' | docker login -u me --password-stdin
printf '%s' @ | gh auth login --with-token
sudo -S ls <<< @
echo "root:@" | chpasswd
password: @
password = "@"
  secret_key: '@'
const apiKey = "@";
{"clientSecret": "@"}
machine example.com login me password=@
[db]\\npassword = @
wpa_passphrase home @
""".strip().splitlines()


@pytest.mark.parametrize("name", SHAPES)
def test_a_secret_of_a_known_shape_is_taken_out_whole(name: str) -> None:
    secret = SHAPES[name]
    for text in (secret, f"say {secret} now", f'"{secret}"', f"a={secret};b", f"x\n{secret}\ny", f"({secret})"):
        shown = redact.text(text)
        assert "‹redacted: " in shown
        assert longest_common(shown, secret) < 8, shown


@pytest.mark.parametrize("text", ANNOUNCED)
def test_a_secret_that_is_announced_is_taken_out(text: str) -> None:
    shown = redact.text(
        text.replace("\\n", "\n").replace("@", SECRET, 1) if "@@" not in text else text.replace("@", SECRET, 1)
    )
    assert SECRET not in shown
    assert "hunter" not in shown
    assert "zebra" not in shown


@pytest.mark.parametrize(
    "given",
    [
        {"password": SECRET},
        {"db": {"connection": {"Password": SECRET}}},
        {"env": {"GITHUB_TOKEN": SECRET}},
        {"env": [{"name": "API_KEY", "value": SECRET}]},
        {"headers": {"Authorization": f"Bearer {SECRET}", "X-Api-Key": SECRET, "Cookie": f"a={SECRET}"}},
        {"credentials": {"user": "me", "what": [SECRET, {"x": SECRET}]}},
        {"args": ["login", "--password", SECRET]},
        {"args": ["curl", "-u", f"me:{SECRET}", "https://example.com"]},
        {"args": ["mysql", f"-p{SECRET}"]},
        {"command": ["bash", "-c", f"PASSWORD={SECRET} make"]},
        {"githubPat": SECRET},
        {"pw": SECRET},
        {f"password={SECRET}": 1},
        {"secrets": [SECRET]},
        {"body": f'{{"password": "{SECRET}"}}'},
    ],
)
def test_structured_input_is_read_by_its_keys(given: dict[str, object]) -> None:
    assert SECRET not in line.body(Record("decision", "1", 0.0, input=given)).decode()


def test_numbers_behind_a_secret_key_are_taken_out_and_flags_are_not() -> None:
    given = {"password": 12345, "token": None, "secret": True, "api_key": ""}
    assert redact.value(given) == {"password": "‹redacted: password›", "token": None, "secret": True, "api_key": ""}


def test_a_secret_in_any_field_of_a_record_is_taken_out() -> None:
    secret = SHAPES["github token"]
    everywhere = Record(
        "decision",
        "1",
        0.0,
        project=f"/p/{secret}",
        cwd=f"/p/{secret}",
        tool=f"mcp__{secret}",
        effects=(f"fetch https://x:{secret}@example.com",),
        reason=f"`{secret}` is protected",
        rule=f"bash(curl {secret})",
        source=f"/p/{secret}/x.toml:1",
        more={"message": secret, secret: 1},
    )
    assert secret not in line.body(everywhere).decode()


json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)
around = st.text(alphabet=" \n\t'\"`;|&=:/,(){}[]<>é✓\u202e\\", max_size=6)


def planted(tree: object, text: str, chance: random.Random) -> object:
    """The tree with a text somewhere in it."""
    if isinstance(tree, dict) and tree and chance.random() < 0.8:
        key = chance.choice(list(tree))
        if chance.random() < 0.2:
            return {**tree, text: 1}
        return {**tree, key: planted(tree[key], text, chance)}
    if isinstance(tree, list) and tree and chance.random() < 0.8:
        at = chance.randrange(len(tree))
        return [*tree[:at], planted(tree[at], text, chance), *tree[at + 1 :]]
    return text


@examples(400)
@given(json_like, st.sampled_from(sorted(SHAPES)), around, around, st.randoms(use_true_random=False))
def test_a_secret_planted_anywhere_never_reaches_the_line(
    tree: object, name: str, before: str, after: str, chance: random.Random
) -> None:
    secret = SHAPES[name]
    given = planted({"command": tree, "more": tree}, before + secret + after, chance)
    written = line.body(Record("decision", "1", 0.0, input=given if isinstance(given, dict) else {"x": given})).decode()
    core = max(secret.replace("\\n", "\n").split("\n"), key=len)
    assert core not in written
    assert longest_common(written, core) < 16


@examples(300)
@given(json_like)
def test_redacting_never_fails_and_gives_json(tree: object) -> None:
    line.body(Record("decision", "1", 0.0, input={"x": tree}, more={"y": tree}))


def longest_common(text: str, secret: str) -> int:
    """The length of the longest piece of a secret in a text."""
    best = 0
    for start in range(len(secret)):
        while secret[start : start + best + 1] in text and start + best < len(secret):
            best += 1
    return best


def test_a_mark_says_what_it_was_and_nothing_else() -> None:
    assert redact.text(f"git push https://x:{SHAPES['github token']}@example.com/a && ls") == (
        "git push https://x:‹redacted: github token›@example.com/a && ls"
    )
    assert redact.text(f"echo {SHAPES['github token']}") == "echo ‹redacted: github token›"
    assert redact.text(f"DB_PASSWORD={SECRET} make test") == "DB_PASSWORD=‹redacted: password› make test"


@pytest.mark.parametrize("text", ANNOUNCED)
def test_redacting_again_changes_nothing(text: str) -> None:
    once = redact.text(text.replace("\\n", "\n").replace("@", SECRET, 1))
    assert redact.text(once) == once


def test_random_keys_are_seen_by_their_looks() -> None:
    source = random.Random(7)
    kinds = {"letters and digits": A62, "base64": A62 + "+/", "for addresses": A62 + "-_"}
    for alphabet in kinds.values():
        missed = 0
        for _ in range(500):
            secret = "".join(source.choice(alphabet) for _ in range(40))
            missed += redact.text(f"use {secret} now") == f"use {secret} now"
        assert missed <= 10


def test_a_text_that_is_quiet_has_nothing_to_take_out() -> None:
    """What lets most texts pass in microseconds must never let one pass that the full look would change."""
    everything = [*ANNOUNCED, *SHAPES.values(), *(f"x {secret} y" for secret in SHAPES.values())]
    for text in everything:
        spans = [*shapes.find(text), *named.find(text), *redact.find_random(text)]
        assert not spans or not redact.quiet(text), text


SOUNDS = (
    "MAX_TOKENS PWD OLDPWD token_count PASSWORD_FILE next_token_id no-password ask-pass primary_key cache-key "
    "tokenizer monkey secret_name author compass keyboard session pad_token SSH_AUTH_SOCK"
)
ANNOUNCES = (
    "TOKEN GITHUB_TOKEN githubToken x-auth-token DB_PASS dbPassword MYSQL_PWD AWS_SECRET_ACCESS_KEY apiKey APIKey "
    "OPENAI_API_KEY SECRET SECRET_KEY_BASE client_secret passphrase private_key TOKEN_2 GH_PAT"
)


@pytest.mark.parametrize("name", SOUNDS.split())
def test_names_that_only_sound_secret(name: str) -> None:
    assert secret_kind(name) == ""


@pytest.mark.parametrize("name", ANNOUNCES.split())
def test_names_that_announce_a_secret(name: str) -> None:
    assert secret_kind(name) != ""
    assert SECRET not in redact.text(f"{name}={SECRET}")
    assert SECRET not in str(redact.value({name: SECRET}))


# ---------------------------------------------------------------- what must stay

EVERYDAY = r"""
git status
git log --oneline -20 --format='%H %an %s'
git show 3f2a9c1d8e7b6a5f4c3d2e1f0a9b8c7d6e5f4a3b
git diff HEAD~3..HEAD -- src/cart/total.ts
git commit -m "Fix the token refresh when a session expires"
git commit -m 'auth: rename password field; add key rotation docs'
git push -u origin feature/password-reset-2024
git rebase -i origin/main --autosquash
git stash push -m "wip: secret santa page"
git cherry-pick 9fceb02d0ae598e95dc970b74767f19372d61af8
git clone git@github.com:example/shop.git
git clone https://github.com/example/shop.git --depth 1
git remote add upstream ssh://git@example.com:2222/team/shop.git
git config user.email me@example.com
git blame -L 10,40 src/auth/tokenizer.py
git bisect start HEAD v2.3.1
git tag -a v1.4.0-rc.1 -m "release candidate"
git log -S"apiKey" --all -- '*.ts'
npm install --save-dev @types/node@20.11.5
npm run test -- --watch=false src/cart/total.test.ts
npm publish --tag next --access public
npm config get registry
npx playwright test --project=chromium --grep "login page"
npx create-react-app my-app --template typescript
pnpm install --frozen-lockfile --filter ./packages/api
yarn workspace @shop/api add express@^4.18.2
pip install -r requirements.txt --no-cache-dir
pip install 'requests[security]>=2.31,<3'
python -m pytest tests/unit/test_tokens.py -k "test_password_reset and not slow" -x
python -m pytest tests/test_api.py::TestAuthenticationService::test_login_returns_token -vv
python -c "import sys; print(sys.version)"
python manage.py changepassword admin
uv pip compile pyproject.toml -o requirements.txt
poetry add --group dev ruff@latest
cargo test --workspace --all-features -- --nocapture
cargo build --release --target x86_64-unknown-linux-musl
go test ./... -run TestHandlerReturnsUnauthorizedWithoutToken -count=1
go mod download github.com/stretchr/testify@v1.8.4
go build -ldflags "-X main.version=1.2.3 -X main.commit=9fceb02" ./cmd/server
mvn -q -DskipTests package -Pproduction
./gradlew :app:assembleDebug --no-daemon
make -j8 test LOG_LEVEL=debug
cmake -S . -B build -DCMAKE_BUILD_TYPE=RelWithDebInfo
docker build -t registry.example.com/team/api:2024-11-05-3f2a9c1 .
docker run --rm -p 8080:80 -v "$PWD":/app -e NODE_ENV=production nginx:1.25-alpine
docker run -p 5432:5432 --env-file .env postgres:16
docker pull nginx@sha256:4c0fdaa8b6341bfdeca5f18f7837462c80cff90527ee35ef185571e1c327beac
docker compose -f docker-compose.dev.yml up -d --build
docker exec -it shop_db_1 psql -U postgres -p 5432 -c 'select 1'
docker logs --since 10m --tail 200 api-7d4b9c6f5-x2z8k
kubectl get pods -n production -l app=api -o wide
kubectl logs deploy/api-gateway-canary -c istio-proxy --since=1h
kubectl describe secret db-credentials
kubectl apply -f k8s/overlays/staging/kustomization.yaml
helm upgrade --install api ./charts/api -f values.staging.yaml --set image.tag=2024.11.05
terraform plan -out=tfplan -var-file=staging.tfvars
aws s3 ls s3://my-bucket-eu-west-1/backups/2024/11/
aws sts get-caller-identity --profile staging
aws logs tail /aws/lambda/process-orders --since 1h --format short
gcloud run services describe api --region europe-west1 --format='value(status.url)'
az vm list --resource-group rg-prod-weu --output table
gh pr create --title "Rotate keys" --body "Closes #123"
gh api repos/example/shop/pulls/42/comments --jq '.[].body'
gh run view 6123456789 --log-failed
ssh -p 2222 deploy@host.example.com 'systemctl status api'
ssh-keygen -t ed25519 -C "me@example.com" -f ~/.ssh/id_ed25519
scp -P 2222 build/app.tar.gz deploy@host:/srv/releases/
rsync -avz --delete --exclude node_modules ./ user@host:/var/www/app/
curl -fsSL https://example.com/install.sh -o install.sh
curl -s http://localhost:4873/@shop/api/-/api-1.2.3.tgz
curl -I 'https://example.com/search?q=token+bucket&page=2&sort=desc'
curl -X POST http://localhost:3000/api/orders -H 'Content-Type: application/json' -d '{"id": 42, "qty": 3}'
curl -H "Authorization: Bearer $TOKEN" https://api.example.com/v1/me
wget -qO- https://example.com/data.csv | head -20
find . -name '*.py' -not -path './node_modules/*' -newer setup.py -print
find / -name mysql -print 2>/dev/null
grep -rn "password" src/ --include='*.ts' | grep -v test
rg -n 'API_KEY|SECRET_KEY|ACCESS_TOKEN' --glob '!*.lock' src
sed -i 's/old_token/new_token/g' src/config.py
awk -F: '{ print $1, $3 }' /etc/passwd
tar -czf backup-2024-11-05T103000Z.tar.gz --exclude=.git .
zip -r dist.zip dist -x '*.map'
ls -la ~/.config/app/profiles/default
cat package-lock.json | jq '.packages["node_modules/express"].integrity'
echo "sha512-Ln6gRqrfJyHEcLrYQDXyGvNcPlFHgVn2yUGYZvRqk8oAmHyM2BmvWVXyjYLkMrAYNH2A8KjBJXq6ByE8cwAQ==" 
echo aGVsbG8gd29ybGQsIHRoaXMgaXMgb25seSBhIHRlc3Q= | base64 -d
sha256sum dist/app-1.4.0.tar.gz
echo "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  empty" | sha256sum -c
cd /home/me/projects/shop/packages/api/src/modules/authentication && ls
cd /nix/store/9krlzvny65gdc8s7kpb6lkx8cd02c25b-coreutils-9.3/bin && ls
mkdir -p src/components/UserAuthenticationForm2/__tests__
cp .env.example .env
export PATH="$HOME/.local/bin:$PATH" NODE_OPTIONS=--max-old-space-size=4096
export API_TOKEN="$(cat ~/.config/token)" DB_PASSWORD=${DB_PASSWORD}
TOKEN=$1; KEY="$2"; echo "${TOKEN:+set}"
LLM_MAX_TOKENS=4096 python generate.py --max-tokens 512 --temperature 0.2
read -s -p "Password: " password
while read -r key value; do echo "$key=$value"; done < map.txt
ps aux | sort -rk 3 | head
lsof -i :8080 -sTCP:LISTEN
journalctl -u api.service --since "1 hour ago" -p err
systemctl --user restart pipewire
openssl x509 -in cert.pem -noout -dates -fingerprint -sha256
psql -h localhost -p 5432 -U app -d shop -c "select id, token_count from usage limit 5"
redis-cli -h localhost -p 6379 info keyspace
mysql -u root -p shop < dump.sql
sqlite3 db.sqlite3 '.schema users'
jq -r '.items[] | select(.key == "primary_key") | .value' data.json
xargs -0 -n1 -P4 gzip < files.txt
claude --resume 0b1f9c1e-5d2a-4e58-9b1c-2f4d6a8c0e13
tail -f logs/app-2024-11-05.log | grep --line-buffered "request_id=01HF3ZK5J9M2N4P6Q8R0S2T4V6"
""".strip().splitlines()


def test_there_are_a_hundred_everyday_commands() -> None:
    assert len(set(EVERYDAY)) >= 100


@pytest.mark.parametrize("text", EVERYDAY)
def test_an_everyday_command_stays_as_it_is(text: str) -> None:
    assert redact.text(text) == text
    assert redact.value({"command": text, "args": text.split(" ")}) == {"command": text, "args": text.split(" ")}


CODE = '''
class Client:
    """Talks to the service. The token is read from the environment."""

    def __init__(self, token: str, password: str | None = None, *, api_key: str = "") -> None:
        self.token = token
        self.api_key = api_key or os.environ["API_KEY"]
        self.password = password or getpass.getpass("Password: ")

    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}
'''


def test_code_that_only_handles_secrets_can_still_be_read() -> None:
    shown = redact.text(CODE)
    assert shown.count("‹redacted") <= 4
    assert "class Client:" in shown
    assert "def headers(self) -> dict[str, str]:" in shown


# ---------------------------------------------------------------- cost


@pytest.mark.parametrize(
    "piece",
    ["a", "=", "'", '"', "\\", "token=", "token='", 'token="\\', "--password ", "echo a | sudo -S ", "mysql -px ",
     "curl -u a:b ", "://a:b@", "-----BEGIN PRIVATE KEY-----", "AAAAAAAAAA\n", "PRIVATE KEY AAAAAAAAAA\n", "aB1/",
     "Authorization: x\n", "set token ", "<<< ", "{\"a\":", "sk-", "eyJaaaaaaaaaaaa.", "-S <<<"],
)  # fmt: skip
def test_no_text_takes_long(piece: str) -> None:
    """Four times the length takes about four times as long, not sixteen."""
    took = []
    for length in (10_000, 40_000):
        text = "token PRIVATE KEY mysql -p " + piece * (length // len(piece))
        start = time.thread_time()  # other tests may have left threads that work
        redact.text(text)
        took.append(time.thread_time() - start)
    assert took[1] < 10 * took[0] + 0.1


def test_long_texts_are_cut_in_the_middle_with_their_length() -> None:
    shown = redact.value("ab " * 20_000)
    assert isinstance(shown, str)
    assert shown.startswith("ab ab")
    assert shown.endswith("ab ab ")
    assert "‹cut: 43617 of 60000 characters›" in shown


def test_a_secret_is_taken_out_before_a_text_is_cut() -> None:
    secret = SHAPES["github token"]
    for place in range(10_890, 10_960):
        shown = str(redact.value("a " * (place // 2) + secret + " b" * 20_000))
        assert longest_common(shown, secret) < 8


def test_no_text_with_a_secret_is_remembered() -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 4
    said = [
        f"curl -H 'Authorization: token {secret}' example.com",
        "git status && ls -la src",
        "export API_KEY=hunter2hunter2",
    ]
    first = [redact.quiet(each) for each in said]
    assert first == [False, True, False]
    assert [redact.quiet(each) for each in said] == first
    assert not any(each in redact._clean for each in (said[0], said[2]))
