"""Marks HTTP requests that affect others, by method and address: they destroy, send messages, or change what runs.

A guess by names: it can add a prompt, never remove one."""

from __future__ import annotations

from assent.contract import Pattern
from assent.effects.addresses import host_of

OWN = frozenset({"localhost", "::1", "[::1]", "0.0.0.0", "host.docker.internal"})
DESTROYING_PATH = Pattern(
    r"(?i)/(?:\w*[_-])?(?:do)?(?:delete|destroy|purge|drop|wipe|terminate|revoke|truncate|flush|remove|clear|empty)(?:[_-]?(?:all|by|many)\w*"
    r"|[_-]\w+)?(?:/|$|[.:])|/_(?:delete_by_query|aliases|close|settings|restore)(?:/|$)|[:/](?:delete|destroy|purge)(?:[A-Z]\w*)?(?:/|$)"
)
# Ports of data stores and control interfaces: a request there does not go to a program in development.
_KEEPERS = frozenset(
    """2019 2375 2376 2379 4646 5984 6333 7474 7700 8086 8091 8108 8123 8200 8500 8529 8983 9200 9201 15672
    19530""".split()
)
_PASSING = Pattern(
    r"(?i)[^/]*/(?:.*[^a-z])?(?:tests?|dev|tmp|temp|ci|sandbox|scratch|demo|e2e|_search|_count)(?:[^a-z].*)?"
)
_PORT = Pattern(r"(?:[A-Za-z][\w+.-]*://)?(?:[^/@\s]*@)?[^/:\s]+:(\d+)")
_MESSAGES = Pattern(
    r"hooks\.slack\.com|(?:[\w-]+\.)?slack\.com|discord(?:app)?\.com|api\.telegram\.org|api\.twilio\.com|api\.sendgrid\.com"
    r"|api(?:\.eu)?\.mailgun\.net|api\.postmarkapp\.com|api\.resend\.com|[\w-]+\.webhook\.office\.com|graph\.facebook\.com"
    r"|api\.(?:twitter|x)\.com|events\.pagerduty\.com|api\.pushover\.net|ntfy\.sh|chat\.googleapis\.com|slack-webhook\..*"
)
_LOOKS = Pattern(
    r"(?i).*/(?:api/)?(?:auth\.test|\w+\.(?:list|info|history|replies)|getMe|getUpdates|search[\w.]*)(?:[/?].*)?"
)
# Services that others depend on: payments, feature flags, DNS, machines, code.
_STEERS = Pattern(
    r"(?:api\.stripe|api\.paypal|api-m\.paypal|connect\.squareup|api\.(?:sandbox\.)?braintreegateway)\.com|(?:app|api)\.launchdarkly\.com"
    r"|api\.(?:cloudflare|digitalocean|heroku|vercel|netlify|fastly|linode|vultr|render|machines\.dev|fly\.io|gandi|godaddy"
    r"|name|split\.io|statsig|flagsmith|supabase|pagerduty|opsgenie|datadoghq|newrelic|bitbucket|buildkite)(?:\.com|\.net|\.io|\.dev)?"
    r"|api\.hetzner\.cloud|dns\.hetzner\.com|management\.azure\.com|graph\.microsoft\.com|api\.github\.com|gitlab\.com|circleci\.com"
    r"|[\w-]+\.auth0\.com|[\w-]+\.okta\.com|[\w.-]+\.amazonaws\.com|(?!storage\.)[\w-]+\.googleapis\.com|backboard\.railway\.app"
    r"|api\.machines\.dev|[\w-]+\.myshopify\.com|[\w-]+\.atlassian\.net|api\.pinecone\.io|[\w.-]+\.pinecone\.io"
)
_ASKS = Pattern(
    r"(?i).*/(?:graphql|search|query|markdown|validate|verify|estimate|token|tokens|oauth2?|login|session|sessions"
    r"|generateContent|predict|translate|jql)\b.*|.*:(?:generateContent|predict|batchGet|search|query|test\w*)\b.*"
)


# As the last word of a path, these stop or start something that others use.
_ACTS = Pattern(
    r"(?i).*/(?:close|cancel|deactivate|suspend|disable|shutdown|stop|reboot|restart|force-?leave|rollback|refunds?|payouts?"
    r"|transfers?|charges?|deploy(?:ments?)?|publish|promote|terminate|failover|drain)(?:/[\w.-]+)?/?"
    r"|.*/job/.+/build(?:WithParameters)?/?"
)


def marks(method: str, address: str, *, certain: bool = True) -> tuple[str, ...]:
    """The dangers of a request. One to this machine affects no one else, if the address is `certain`."""
    if method in ("GET", "HEAD", "OPTIONS") or (certain and is_own(address)):
        return ()
    path = address.partition("?")[0]
    if method == "DELETE" or DESTROYING_PATH.search(path):
        return ("destroy",)
    host = host_of(address)
    if _MESSAGES.fullmatch(host):
        return () if _LOOKS.fullmatch(path) else ("publish",)
    acts = _ACTS.fullmatch(path) is not None or (_STEERS.fullmatch(host) is not None and not _ASKS.fullmatch(path))
    return ("deploy",) if acts else ()


def is_own(address: str) -> bool:
    """Whether a request goes to a program on this machine that keeps nothing for others."""
    host = host_of(address)
    path = address.partition("://")[2] or address
    last = path.partition("?")[0].rstrip("/").rpartition("/")[2]
    if "*" in last or last == "_all" or "/" not in path.rstrip("/"):
        return False  # all data of a service, on this machine too
    port = _PORT.match(address)
    if port is not None and port[1] in _KEEPERS and not _PASSING.fullmatch(path):
        return False
    return host in OWN or host.startswith("127.") or host.endswith(".localhost")
