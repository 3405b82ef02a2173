"""Dangers to shared data of forms of single programs that the verbs among their words do not show.

For commands that are not proved. It can add a prompt, never remove one."""

from __future__ import annotations

from assent.contract import Pattern
from assent.effects.shell.commands.command_effects import EffectsBuilder, Word, shown
from assent.programs.traits import has

_MOST_READ = 60
_REHEARSES = Pattern(
    r" (?:--dry[-_]?run(?:=(?!false|none)\S*)?|--what-?if|--noop|--check|--simulate|--help|-h|--version) "
)
# Programs, and the forms of their words (between spaces) with the danger of each.
_TABLE: tuple[tuple[str, str, str], ...] = (
    # databases, queues and their data
    ("nodetool", r" (?:clearsnapshot|decommission|removenode|assassinate|truncatehints|drain|stopdaemon) ", "destroy"),
    ("kafka-consumer-groups kafka-consumer-groups.sh", r" (?:--delete\S*|--reset-offsets .*--execute) ", "destroy"),
    ("kafka-delete-records kafka-delete-records.sh", r"--offset-json-file", "destroy"),
    ("kafka-configs kafka-configs.sh kafka-acls kafka-acls.sh", r" (?:--delete-config|--remove) ", "destroy"),
    # messages that other programs act on
    ("kcat kafkacat", r"^(?!.*(?:localhost|127\.0\.0\.1)).* -\w*P", "deploy"),
    ("kafka-console-producer kafka-console-producer.sh", r"^(?!.*(?:localhost|127\.0\.0\.1))", "deploy"),
    ("rabbitmqadmin", r"^(?!.*(?:localhost|127\.0\.0\.1)).* publish ", "deploy"),
    ("mosquitto_pub", r"^(?!.*(?:localhost|127\.0\.0\.1)).* (?:-h|--host|-L)", "deploy"),
    ("gcloud", r" pubsub topics publish ", "deploy"),
    ("consul", r" (?:snapshot restore|leave|force-leave|operator raft remove\S*) ", "destroy"),
    ("etcdctl etcdutl", r" (?:snapshot restore|member remove|defrag --cluster|alarm disarm) ", "destroy"),
    (
        "neo4j-admin",
        r" (?:load|restore|import) .*(?:--overwrite-destination(?! false|=false)|--force|--from)",
        "destroy",
    ),
    ("arangorestore", r"--", "destroy"),
    ("couchbase-cli cbbackupmgr", r" (?:bucket-(?:delete|flush)|node-init|server-eject|restore) ", "destroy"),
    ("pg_resetwal pg_resetxlog pg_archivecleanup pg_rewind", r" (?!-n )", "destroy"),
    ("surreal", r" import ", "destroy"),
    ("aerich", r" downgrade ", "destroy"),
    ("goose", r" (?:reset|down-to 0) $", "destroy"),
    ("flyway", r" (?:clean|undo) ", "destroy"),
    ("liquibase", r" (?:drop-?all|rollback(?:-count|-to-date|Count|ToDate)?) ", "destroy"),
    ("diesel", r" (?:database (?:reset|drop)|migration (?:redo|revert) .*(?:--all|-a)) ", "destroy"),
    ("superset flask alembic", r" downgrade (?:.* )?base ", "destroy"),
    ("airflow", r" db (?:reset|clean|downgrade) ", "destroy"),
    ("dbt", r" run-operation (?:\S*[_-])?(?:drop|delete|truncate|purge|wipe|clean|reset)", "destroy"),
    ("dbt", r"--full-refresh .*(?:--target|-t)[ =]prod|(?:--target|-t)[ =]prod.*--full-refresh", "destroy"),
    (
        "mvn mvnw gradle gradlew sbt",
        r" (?:flyway:?[Cc]lean|liquibase:?[Dd]rop-?[Aa]ll|hibernate3?:hbm2ddl|dropAll|flywayUndo|dropDatabase)\b",
        "destroy",
    ),
    ("hdfs hadoop", r" (?:dfs|fs) (?:-D ?\S+ )*-(?:rm|rmr|rmdir|expunge|truncate) ", "destroy"),
    ("hdfs", r" (?:namenode -format|dfsadmin -deleteBlockPool)", "destroy"),
    ("ozone", r" (?:sh|fs) .*\b(?:delete|-rm)", "destroy"),
    ("mlflow", r" gc ", "destroy"),
    ("dvc", r" gc .*(?:-c|--cloud) ", "destroy"),
    ("git-annex", r" (?:drop|dropunused|dead) ", "destroy"),
    ("git", r" annex (?:drop|dropunused|dead) .*(?:--force|--all) ", "destroy"),
    (
        "heroku",
        r" pg:(?:copy|push|promote|killall|unfollow|reset)\b| pg:backups:(?:restore|delete|cancel)\b",
        "destroy",
    ),
    (
        "redis-cli valkey-cli keydb-cli",
        r"(?i) (?:shutdown|debug|failover|cluster (?:reset|forget|failover)|replicaof|slaveof|acl (?:deluser"
        r"|setuser)|swapdb) ",
        "destroy",
    ),
    ("memcflush", r"", "destroy"),
    # stores, snapshots, machines
    ("aws", r" s3 mv (?:\S+ )*?s3://", "destroy"),
    ("gsutil", r" mv (?:-\S+ )*gs://", "destroy"),
    ("gcloud", r" storage mv (?:-\S+ )*gs://", "destroy"),
    ("snapper", r" (?:rollback|delete|undochange|cleanup) ", "destroy"),
    ("timeshift", r" --(?:restore|delete\S*) ", "destroy"),
    (
        "nerdctl ctr",
        r" (?:volume (?:rm|prune)|snapshots rm|content rm|down .*(?:-v|--volumes)|prune .*--volumes) ",
        "destroy",
    ),
    ("pvesm qm pct vzdump", r" (?:free|destroy|rollback|delsnapshot|stop|shutdown) ", "destroy"),
    ("swift", r" delete ", "destroy"),
    ("mega-rm megarm dropbox-cli dbxcli gdrive mega-exec", r" (?:delete|rm|remove|trash) |^ (?=/)", "destroy"),
    ("rdiff-backup", r" remove | --remove-", "destroy"),
    (
        "lftp",
        r"(?:^|[ ;'\"])(?:rm|mrm|rmdir|glob rm) |mirror .*(?:-R|--reverse).*--delete|mirror .*--delete.*(?:-R"
        r"|--reverse)",
        "destroy",
    ),
    ("smbclient", r"(?:^|[ ;'\"])(?:deltree|del|rm|rmdir) ", "destroy"),
    ("smbclient lftp", r"(?:^|[ ;'\"])(?:put|mput|mirror (?:.* )?(?:-R|--reverse)) ", "exfiltration"),
    ("umount", r" (?:/|/home|/usr|/var|/boot|/etc|/opt|/srv) ", "system-change"),
    # production services
    ("terraform tofu", r" (?:taint|untaint|import|force-unlock|state (?:push|mv|replace-provider)) ", "deploy"),
    ("pulumi", r" (?:refresh|import|cancel|state (?:rename|edit|move|unprotect)|stack import) ", "deploy"),
    (
        "ansible",
        r" (?:-m|--module-name)[ =](?:ansible\.\w+\.)?(?:reboot|shutdown|service|systemd\w*|user|group"
        r"|authorized_key|apt|yum|dnf"
        r"|package|copy|template|lineinfile|replace|file|cron|mount|firewalld|iptables|unarchive|git|get_url"
        r"|docker_\w+) ",
        "deploy",
    ),
    (
        "salt salt-call salt-ssh",
        r" (?:state\.(?:apply|highstate|sls|single)|system\.\w+|service\.(?:stop|restart|disable)|cmd\.\w+|pkg\.\w+"
        r"|file\.\w+|user\.\w+|group\.\w+|cron\.\w+|mount\.\w+|disk\.\w+) ",
        "deploy",
    ),
    ("ansible", r"\bstate=(?:absent|stopped|restarted|reloaded|rebooted|dropped)\b", "deploy"),
    (
        "pdsh mpssh clush dsh pssh parallel-ssh orgalorg",
        r"(?:^|[ ;&|'\"])(?:sudo |reboot|shutdown|systemctl|service |rm |kill|docker|kubectl|apt|yum|dd |mv "
        r"|chmod|chown|sed -i|mkfs)",
        "deploy",
    ),
    ("gh", r" workflow run \S*(?:deploy|release|publish|prod)", "deploy"),
    ("wrangler", r" (?:secret (?:put|bulk)|versions deploy|triggers deploy|rollback) ", "deploy"),
    (
        "vercel vc",
        r" (?:env (?:add|pull production)|alias set|domains add|dns add|redeploy|rollback|promote) ",
        "deploy",
    ),
    ("eb", r" (?:swap|restore|abort|clone|setenv|scale|restart|config) ", "deploy"),
    ("puppet", r" (?:apply|agent|resource .*ensure=) ", "deploy"),
    ("chef-client chef-solo chef-apply cf-agent", r"", "deploy"),
    ("nsupdate", r"", "deploy"),
    ("sst", r" (?:remove|unlock|secret (?:set|remove)) ", "destroy"),
    ("pm2", r" (?:kill|(?:stop|delete|restart|reload) all) ", "deploy"),
    ("supervisorctl", r" (?:shutdown|reload|(?:stop|restart|remove) (?:all|\S+:\*)) ", "deploy"),
    ("forever", r" (?:stopall|restartall) ", "deploy"),
    ("nginx", r" -s ?(?:stop|quit) ", "system-change"),
    ("apachectl apache2ctl httpd caddy haproxy", r" (?:-k )?(?:stop|graceful-stop) ", "system-change"),
    (
        "docker podman",
        r" (?:-H|--host)[ =](?:ssh|tcp)://.* (?:up|run|rm|down|stop|restart|kill|rmi|create|start|exec|deploy"
        r"|load|prune) ",
        "deploy",
    ),
    (
        "docker podman docker-compose podman-compose",
        r" (?:-f|--file)[ =]?\S*prod\S* (?:.* )?(?:up|down|rm|stop|kill|restart|run|pull) ",
        "deploy",
    ),
    (
        "docker podman nerdctl",
        r" (?:rm|rmi|stop|kill|update) .*(?:\$\(|`)\s*(?:docker|podman|nerdctl) (?:ps|images|container ls"
        r"|image ls)(?: -[aql]+| --all| --quiet)*\s*[)`]",
        "destroy",
    ),
    ("docker", r" swarm leave ", "destroy"),
    (
        "docker podman docker-compose podman-compose nerdctl",
        r"(?:^| compose (?:\S+ )*?| )rm (?:\S+ )*?(?:-[a-z]*v[a-z]*|--volumes) ",
        "destroy",
    ),
    (
        "fastlane",
        r" (?:deliver|pilot|supply|testflight|upload_to_\w+|\w* ?(?:release|deploy|beta|submit)\w*) ",
        "publish",
    ),
    ("cargo gem", r" owner (?:\S+ )*?(?:--add|-a) ", "publish"),
    ("podman", r" (?:rm|rmi|kill|stop) (?:.* )?(?:-[a-z]*a[a-z]*|--all) ", "destroy"),
    ("git", r" submodule deinit (?:.* )?(?:-f|--force|--all) ", "discard-work"),
    ("git", r" lfs migrate (?:import|export) ", "history-rewrite"),
    ("juju", r" (?:remove-\S+|destroy-\S+|kill-\S+) ", "destroy"),
    ("tsuru dapr rancher", r" (?:\S+-)?(?:remove|delete|uninstall|destroy) ", "destroy"),
    (
        "ldcli launchdarkly launchdarkly-cli unleash unleash-cli unleash-client flagsmith statsig splitctl growthbook"
        " optimizely configcat flipt",
        r" (?:update|toggle\S*|set|enable|disable|archive|unarchive|on|off|create|import|patch) ",
        "deploy",
    ),
    # publishers and packages
    (
        "npm pnpm yarn",
        r" (?:npm )?(?:owner|author|access|dist-tags?|tag|token|team|org|hook) (?:add|set|grant|public|restricted"
        r"|create|invite)",
        "publish",
    ),
    ("skopeo", r" (?:copy|sync) .* (?:docker://\S+) $", "publish"),
    ("crane gcrane regctl", r" (?:copy|cp|push|append|mutate|tag) ", "publish"),
    ("cosign", r" (?:sign|attest|attach|copy|upload)\S* ", "publish"),
    ("slackcat telegram-send twurl", r"", "publish"),
    (
        "slack signal-cli mmctl toot matrix-commander discordo zulip-send",
        r" (?:send|post|upload|broadcast)\S* | -m ",
        "publish",
    ),
    ("twilio", r" (?:api:\S*(?:messages|calls|faxes)\S*:create|email:send) ", "publish"),
    ("pagerduty pd opsgenie opsgenie-cli", r" (?:resolve|ack\S*|trigger|create|close|assign|merge|set) ", "deploy"),
    ("aws", r" (?:ses|sesv2|pinpoint\S*) send-\S+ | sns publish\S* | sqs send-\S+ | events put-events ", "publish"),
    # secrets, guards and scheduled jobs
    ("doppler", r" secrets (?!.*(?:--only-names|--help| set | delete | upload ))", "prints-secret"),
    ("infisical", r" (?:export|secrets (?!.*(?: set | delete ))(?:get .*)?) ?", "prints-secret"),
    ("pre-commit lefthook overcommit husky", r" uninstall ", "checks-off"),
    ("git", r" (?:commit|push|merge|am|rebase) (?:.* )?--no-verify ", "checks-off"),
    ("git", r" commit (?:-[a-z]*n[a-z]*) ", "checks-off"),
    # Which branch of a remote is the default one, by which pushes to it are known.
    ("git", r" remote (?:-v )?set-head (?!(?:.* )?(?:-a|--auto) )", "checks-off"),
    ("git", r" symbolic-ref (?:.* )?refs/remotes/[^ ]+/HEAD [^ |>-]", "checks-off"),
    ("git", r" symbolic-ref (?:.* )?(?:-d|--delete) (?:.* )?refs/remotes/", "checks-off"),
    ("git", r" update-ref (?:.* )?refs/remotes/[^ ]+/HEAD ", "checks-off"),
    ("update-ca-certificates update-ca-trust trust", r"", "checks-off"),
    ("mkcert", r" -(?:-)?(?:un)?install ", "checks-off"),
    (
        "security",
        r" (?:add-trusted-cert|remove-trusted-cert|trust-settings-import|authorizationdb write|delete-\S+) ",
        "checks-off",
    ),
    ("certutil", r" -(?:A|addstore|importpfx) ", "checks-off"),
    ("defaults", r" write .*(?:Quarantine|Gatekeeper|SkipVerify|AutomaticCheckEnabled|globalstate)", "checks-off"),
    ("gsettings dconf", r" (?:set|write) .*\b(?:proxy|lockdown|screensaver lock)| reset (?:-f )?/ ", "system-change"),
    ("resolvectl systemd-resolve", r" (?:dns|domain|revert|dnssec|dnsovertls|--set-\S+) \S+ \S", "system-change"),
    ("update-alternatives", r" --(?:set|install|config|auto|remove\S*) ", "system-change"),
    ("tcpdump tshark dumpcap mitmproxy mitmdump mitmweb ngrep", r"^ (?!--?(?:version|h|D|help) )", "spies"),
    (
        "pkill killall skill",  # servers that other programs of a machine use
        r" \^?(?:postgres|postmaster|mysqld|mariadbd|mongod|redis-server|nginx|apache2|httpd|dockerd|containerd|sshd"
        r"|systemd|launchd|kubelet|etcd|rabbitmq-server|elasticsearch|haproxy|NetworkManager|Xorg|gnome-shell|Finder"
        r"|WindowServer)\$? ",
        "ends-others",
    ),
    ("syncthing", r" (?:serve|--\S+) |^ $", "exposes"),
    (
        "masscan zmap hydra medusa ncrack patator hping3 slowloris mdk4 aireplay-ng ettercap bettercap responder",
        r"",
        "attacks",
    ),
    ("nmap", r" (?!.*(?:localhost|127\.|--version|-V |-h ))", "attacks"),
    (
        "sqlmap nikto gobuster ffuf wfuzz dirb nuclei msfconsole msfvenom john hashcat",
        r" (?!--?(?:version|h))",
        "attacks",
    ),
)
# Options that turn off an agent program's prompts.
_UNGUARDED = Pattern(
    r" --(?:dangerously-\S+|yolo|full-auto|allow-all\S*|auto-approve\S*|skip-permissions\S*|yes-always|trust-all-tools"
    r"|approval-mode[= ]yolo|permission-mode[= ]bypass\S*|sandbox[= ]danger\S*|no-sandbox) | -a never "
)
_forms: dict[str, list[tuple[Pattern, str]]] = {}
for _names, _form, _danger in _TABLE:
    for _name in _names.split():
        _forms.setdefault(_name, []).append((Pattern(_form), _danger))


def add(builder: EffectsBuilder, words: list[Word]) -> None:
    """Mark a command that is not proved by the forms of its program."""
    forms, agent = _forms.get(builder.program), has(builder.program, "agent")
    if forms is None and not agent:
        return
    texts = list(map(shown, words[:_MOST_READ]))
    if agent or has(builder.program, "prose"):
        texts = [text if " " not in text or text[:2] == "$(" else "_" for text in texts]
    text = f" {' '.join(texts)} " if texts else " "
    if _REHEARSES.search(text):
        return
    if agent and _UNGUARDED.search(text):
        builder.danger("checks-off")
    for form, danger in forms or ():
        if danger not in builder.dangers and form.search(text):
            builder.danger(danger)
