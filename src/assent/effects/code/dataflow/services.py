"""Marks calls of service libraries that destroy or change shared data, by method names; recognizes disposable databases
by the names that code opens. A name can add a prompt, never remove one."""

from __future__ import annotations

from assent.contract import Pattern
from assent.effects.code.dataflow.value import CodeValue

# Client packages of services, by the first part of their name or by their scope.
_SERVICES = frozenset(
    """boto boto3 botocore aioboto3 aiobotocore google googleapiclient azure kubernetes kubernetes_asyncio docker podman
    github gitlab stripe paypalrestsdk braintree plaid square twilio sendgrid mailgun postmarker resend mailchimp3
    slack_sdk slack telegram tweepy discord firebase_admin supabase pinecone qdrant_client weaviate kafka aiokafka
    confluent_kafka hvac consul digitalocean hcloud linode_api4 cloudflare CloudFlare openstack oci jira notion_client
    asana shopify zenpy hubspot simple_salesforce pyairtable ldap3 keycloak okta auth0 msgraph exchangelib O365
    snowflake databricks minio b2sdk proxmoxer libvirt opensearchpy algoliasearch
    aws-sdk @aws-sdk @google-cloud @azure @kubernetes @octokit octokit @gitbeaker @paypal @sendgrid @mailchimp postmark
    mailgun.js @slack telegraf firebase-admin firebase @firebase @supabase @pinecone-database @qdrant kafkajs
    dockerode @digitalocean @linear @notionhq airtable @shopify googleapis contentful-management @vercel heroku-client
    node-vault ldapjs @hubspot @elastic @opensearch-project @stripe
    Aws Google Azure Stripe Octokit Twilio Kubeclient Docker Fog Slack SendGrid Mailgun Sidekiq Resque Shopify
    Elasticsearch Gitlab PagerDuty Kafka Rdkafka
    """.split()
)
_ROOT = Pattern(r"@[\w-]+|[A-Za-z_][\w-]*")
_PIECE = Pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_BEFORE = frozenset("begin batch bulk async await recursive force forced schedule admin do all".split())
_DESTROYS = frozenset(
    """delete destroy drop purge wipe terminate deregister revoke unpublish truncate flush erase expunge remove clear
    empty refund void disable deactivate suspend ban kick uninstall reset deletion uncreate decommission cancel prune
    obliterate detach""".split()
)
_LOOKS = frozenset("get list describe head read search find fetch query scan count show is has can wait".split())
_SENDS = frozenset("send broadcast post tweet publish dm".split())
_MESSAGES = frozenset(
    """twilio sendgrid mailgun postmarker resend mailchimp3 slack_sdk slack telegram tweepy discord exchangelib O365
    @sendgrid @mailchimp postmark @slack telegraf Twilio SendGrid Mailgun Slack""".split()
)
_MONEY = Pattern(r"(?i)(?:^|.*\.)(?:refunds?|payouts?|charges?|transfers?|payment_?intents?)\.create")
_TEXTS = Pattern(r"(?i).*\.(?:messages|calls|emails|mail)(?:\(\))?\.(?:create|send)")
# Permissions, DNS, and what runs.
_GRANTS = Pattern(
    r"(?:attach|put|add|set|create)-(?:[\w-]*-)?(?:policy|policies|binding|bindings|permission|permissions|grant|acl)(?:-.*)?"
    r"|create-(?:access-key|login-profile|iam-binding)(?:-.*)?|authorize-security-group-.*|change-resource-record-sets(?:-.*)?"
    r"|(?:add-user|add-role|add-team|add-collaborator)(?:-.*)?|update-function-.*|update-assume-role-policy(?:-.*)?"
    r"|put-public-access-block(?:-.*)?|add-to-collaborators|make-public"
)

_REMOTE = Pattern(
    r"psycopg\w*|asyncpg|aiopg|pg8000|pymysql|MySQLdb|mysql\w*|aiomysql|cx_Oracle|oracledb|pyodbc|pymssql|pymongo|motor|redis|cassandra"
    r"|pg|pg-\w+|postgres|mariadb|mssql|tedious|mongodb|mongoose|ioredis|@prisma|@planetscale|@neondatabase|PG|Mysql2|Mongo|Redis"
)
_OPENERS = Pattern(
    r"(?:sqlite3|aiosqlite|duckdb|apsw)\.(?:connect|Connection|Database)|(?:sqlalchemy|sqlmodel)(?:\.\w+)*\.create_(?:async_)?engine"
    r"|peewee\.\w*Database|databases\.Database|better-sqlite3|(?:node:|bun:)?sqlite3?\.(?:Database|DatabaseSync)|SQLite3\.Database\.new"
    r"|SQLite3\.Database\.open|PDO|DBI\.connect|knex|sequelize\.Sequelize|Sequel\.(?:sqlite|connect)"
)
_PASSING = Pattern(
    r"(?i)(?:sqlite(?:\+\w+)?:(?://)?/?|dbi:SQLite:(?:dbname=)?|sqlite:|file:)?"
    r"(?::memory:.*|(?![/~]|\.\.)(?:[\w.-]*/)*?(?:[\w.-]*[^\w])?(?:tests?|tmp|temp|e2e|scratch|fixtures?)(?:[^a-z].*)?|/tmp/.*|)"
)


def service_mark(ref: str) -> str:
    """The danger of a service's method, by its name, or nothing."""
    match = _ROOT.match(ref)
    if match is None or match[0] not in _SERVICES or ref.endswith("()"):
        return ""
    pieces = [piece.lower() for piece in _PIECE.findall(ref[ref.rfind(".") + 1 :])]
    while pieces and pieces[0] in _BEFORE:
        del pieces[0]
    if not pieces or pieces[0] in _LOOKS:
        return ""
    if pieces[0] in _DESTROYS or "deletion" in pieces or _MONEY.fullmatch(ref):
        return "destroy"
    if _GRANTS.fullmatch("-".join(pieces)):
        return "deploy"
    sends = not _SENDS.isdisjoint(pieces) or _TEXTS.fullmatch(ref) is not None
    return "publish" if sends and match[0] in _MESSAGES else ""


def are_disposable(opened: list[tuple[str, CodeValue | None]]) -> bool:
    """Whether every database that code opens is in memory, or a file of the workspace or of `/tmp` named as a test
    database. `opened`: the functions called, each with its first argument."""
    names: list[str] = []
    for ref, given in opened:
        root = _ROOT.match(ref)
        if root is not None and _REMOTE.fullmatch(root[0]):
            return False
        if _OPENERS.fullmatch(ref):
            found = _name(given)
            if not found:
                return False
            names += found
    return bool(names) and all(map(_PASSING.fullmatch, names))


def _name(given: CodeValue | None) -> tuple[str, ...]:
    """The names that a database is opened by: a text, or fields of an object."""
    if given is None:
        return ()
    for field in ("filename", "storage", "connection", "database", "url"):
        if given.fields is not None and field in given.fields:
            return _name(given.fields[field])
    return given.texts if not given.refs and given.items is None else ()
