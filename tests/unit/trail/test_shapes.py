"""Where people write secrets, one way each: none reaches the disk. What only looks like one stays."""

from __future__ import annotations

import pytest

from assent.trail import redact

SECRET = "hunter2Zq"  # stands for @@
WRITTEN = r"""
curl -u me:@@ https://x
curl --user=me:@@ https://x
curl -ume:@@ https://x
curl -sSu 'me:@@' https://x
curl -H "X-Api-Key: @@" https://x
curl -H 'X-Auth-Token: @@' x
curl -H 'PRIVATE-TOKEN: @@' x
curl -H 'Cookie: sid=@@' x
curl -b 'sid=@@' x
curl --cookie "session=@@" x
curl -d 'password=@@' x
curl -d '{"password":"@@"}' x
curl --data-raw "user=a&pass=@@" x
curl 'https://x/?api_key=@@&b=1'
curl 'https://x/?access_token=@@'
curl 'https://x/?sig=@@'
curl https://me:@@@x/
wget --password=@@ x
wget --http-password @@ x
wget --user a --password '@@' x
mysql -u root -p@@ db
mysql -uroot -p'@@' db
mysql --password=@@
mysqldump -p@@ db
mysqladmin -u root password @@
MYSQL_PWD=@@ mysql
PGPASSWORD=@@ psql
psql "host=x user=y password=@@ dbname=z"
psql postgresql://me:@@@h/db
mongosh "mongodb+srv://me:@@@h/db"
mongosh -u a -p @@
redis-cli -a @@ ping
redis-cli -h x -a '@@'
redis-cli --pass @@
redis-cli -u redis://:@@@h:6379
REDISCLI_AUTH=@@ redis-cli
docker login -u me -p @@ reg
docker login --password @@
echo @@ | docker login --password-stdin
docker run -e DB_PASSWORD=@@ x
docker run --env "API_SECRET=@@" x
docker build --build-arg NPM_TOKEN=@@ .
sshpass -p @@ ssh x
sshpass -p@@ ssh x
sshpass -p '@@' scp a b
export AWS_SECRET_ACCESS_KEY=@@
aws configure set aws_secret_access_key @@
aws_secret_access_key = @@
AWS_SESSION_TOKEN="@@"
kubectl create secret generic x --from-literal=password=@@
kubectl create secret docker-registry r --docker-password=@@
kubectl config set-credentials me --token=@@
kubectl --token @@ get pods
kubectl config set-credentials u --password=@@
helm install x --set db.password=@@
helm install x --set auth.rootPassword=@@,a=b
helm upgrade x --set-string apiKey=@@
terraform apply -var 'db_password=@@'
terraform apply -var="token=@@"
TF_VAR_password=@@ terraform plan
ansible-playbook x -e "ansible_become_pass=@@"
ansible-playbook x --extra-vars '{"vault_password":"@@"}'
git clone https://oauth2:@@@gitlab.com/x
git clone https://@@@github.com/a/b
git remote set-url origin https://x-access-token:@@@github.com/a
git -c http.extraheader="AUTHORIZATION: bearer @@" fetch
git config --global credential.helper '!f() { echo password=@@; }; f'
npm config set //r.example/:_authToken @@
npm config set _authToken=@@
//r.example/:_authToken=@@
//r/:_password="@@"
_auth=@@
yarn config set npmAuthToken @@
pip install --index-url https://me:@@@r.example/simple
twine upload -u me -p @@ dist/*
TWINE_PASSWORD=@@ twine upload
poetry config pypi-token.r @@
poetry config http-basic.x me @@
cargo login @@
gem push --key @@
composer config http-basic.x.y me @@
gh auth login --with-token <<< @@
gh secret set X --body @@
gh secret set X -b"@@"
GH_TOKEN=@@ gh pr list
heroku config:set SECRET=@@
fly secrets set KEY=@@
vercel --token @@
vercel -t @@
netlify deploy --auth=@@
wrangler secret put X <<< @@
echo "@@" | wrangler secret put X
echo @@ | gh secret set X
supabase link --password @@
supabase db push -p @@
vault kv put secret/x password=@@
vault login @@
vault login token=@@
VAULT_TOKEN=@@ vault read x
op signin --raw @@
openssl enc -aes-256-cbc -k @@
openssl enc -pass pass:@@
openssl rsa -passin pass:@@
gpg --batch --passphrase @@ -d x
gpg --passphrase=@@
zip -P @@ a b
zip -e -P@@ a b
unzip -P @@ a
7z a -p@@ x
rar a -hp@@ x
ssh-keygen -t ed25519 -N @@ -f k
ssh-keygen -p -P @@ -N x
keytool -storepass @@
htpasswd -b f me @@
htpasswd -nbB me @@
echo 'me:@@' | chpasswd
echo "root:@@" | sudo chpasswd
usermod -p @@ me
useradd -p @@ me
passwd <<< @@
echo @@ | sudo -S ls
echo @@ | passwd --stdin me
printf '@@\n@@\n' | passwd
net user me @@
smbclient //x/y -U me%@@
mount -t cifs -o username=a,password=@@ //x /y
mount -o user=a,pass=@@ x y
rsync --password-file=<(echo @@) a b
RSYNC_PASSWORD=@@ rsync a b
lftp -u me,@@ ftp://x
ftp://me:@@@h/x
ncftpput -u me -p @@ h
ldapsearch -D cn=x -w @@
ldapsearch -w'@@' -D x
sqlcmd -S h -U sa -P @@
sqlcmd -U sa -P@@
Server=x;User Id=sa;Password=@@;
Server=x;Uid=sa;Pwd=@@;
jdbc:mysql://h/db?user=a&password=@@
jdbc:oracle:thin:scott/@@@h:1521/x
sqlplus scott/@@@db
impdp system/@@
amqp://me:@@@h/
redis://default:@@@h
AccountName=x;AccountKey=@@==;EndpointSuffix=y
SharedAccessSignature=@@
Endpoint=sb://x/;SharedAccessKeyName=n;SharedAccessKey=@@=
az login -u a -p @@
az login --service-principal -p @@
az storage blob list --account-key @@
az storage blob list --sas-token "@@"
az sql server create --admin-password @@
gcloud sql users set-password u --password=@@
aws rds create-db-instance --master-user-password @@
aws secretsmanager create-secret --secret-string @@
aws secretsmanager put-secret-value --secret-id x --secret-string '{"p":"@@"}'
aws ssm put-parameter --type SecureString --name x --value @@
aws iam create-login-profile --password @@
aws cognito-idp admin-set-user-password --password @@
doppler secrets set KEY=@@
doppler secrets set KEY @@
stripe --api-key @@
http -a me:@@ GET x
http GET x Authorization:"Bearer @@"
xh -a me:@@ x
httpie --auth me:@@ x
DATABASE_URL=postgres://a:@@@h/x
SECRET_KEY_BASE=@@
DJANGO_SECRET_KEY='@@'
JWT_SECRET: @@
password: @@
  password: "@@"
"client_secret": "@@"
'secret' => '@@'
<password>@@</password>
<add key="ApiKey" value="@@" />
<Secret>@@</Secret>
machine x login y password @@
default login y password @@
h:5432:db:u:@@
password=@@
spring.datasource.password=@@
db.password = @@
export PASSWORD='@@'
set -x PASSWORD @@
setenv API_TOKEN @@
$env:API_TOKEN="@@"
set API_TOKEN=@@
python -c "requests.get(u, auth=('me','@@'))"
python -c "connect(password='@@')"
python -c "os.environ['TOKEN']='@@'"
os.environ["API_KEY"] = "@@"
process.env.API_KEY = "@@"
const apiKey = "@@";
let password: string = "@@";
String password = "@@";
password := "@@"
api_key="@@"
token='@@'
ALTER USER x WITH PASSWORD '@@';
CREATE USER x IDENTIFIED BY '@@';
SET PASSWORD FOR x = PASSWORD('@@');
psql -c "ALTER ROLE a PASSWORD '@@'"
mysql -e "GRANT ALL ON *.* TO a IDENTIFIED BY '@@'"
nmcli dev wifi connect x password @@
wpa_passphrase ssid @@
iwconfig wlan0 key @@
security add-generic-password -w @@
secret-tool store --label=x a b <<< @@
curl --proxy-user a:@@ x
curl --oauth2-bearer @@ x
curl --pass @@ x
curl -E cert:@@ x
curl --cert c.pem:@@ x
curl --tlspassword @@ x
curl -F token=@@ x
curl -K <(echo 'user = "me:@@"')
xfreerdp /u:a /p:@@
rdesktop -u a -p @@ h
vncpasswd -f <<< @@
x11vnc -passwd @@
evil-winrm -u a -p @@
snmpget -v2c -c @@ h
snmpwalk -v3 -A @@ -X b h
ipmitool -U a -P @@ chassis
RESTIC_PASSWORD=@@ restic
borg BORG_PASSPHRASE=@@
ansible-vault encrypt_string '@@' --name x
OTP=@@
X-Vault-Token: @@
apikey: @@
"Authorization": "token @@"
authorization: Bearer @@
Authorization: @@
Set-Cookie: session=@@; Path=/
--header=X-Api-Key:@@
--auth-token=@@
--access-key @@
--secret-key @@
--api-key=@@
--apikey @@
--client-secret @@
-Dpassword=@@
-Djavax.net.ssl.keyStorePassword=@@
mvn -Dgpg.passphrase=@@ deploy
gradle -PsigningPassword=@@
gradle publish -Ppassword=@@
java -Dtoken=@@
sonar-scanner -Dsonar.login=@@
sonar-scanner -Dsonar.token=@@
snyk auth @@
ngrok config add-authtoken @@
ngrok authtoken @@
tailscale up --authkey=@@
tailscale up --auth-key @@
cloudflared service install @@
huggingface-cli login --token @@
wandb login @@
flyctl auth token @@
databricks configure --token <<< @@
pulumi config set --secret dbPassword @@
pulumi config set dbPassword @@ --secret
firebase login:ci --token @@
appcenter login --token @@
fastlane match --password @@
xcrun altool --password @@
xcrun notarytool --password @@
codesign x; security unlock-keychain -p @@ k
nuget push x -ApiKey @@
dotnet nuget push x -k @@
dotnet nuget push x --api-key @@
dotnet user-secrets set "Db:Password" "@@"
mix hex.user auth --key @@
rabbitmqctl add_user a @@
rabbitmqctl change_password a @@
influx -username a -password @@
influx -token @@
clickhouse-client --password @@
cqlsh -u a -p @@
cypher-shell -u a -p @@
neo4j-admin set-initial-password @@
etcdctl --user root:@@ get x
consul kv get -token=@@ x
nomad -token=@@
mc alias set m https://x KEY @@
mosquitto_pub -u a -P @@
kcat -X sasl.password=@@
sasl.jaas.config=org.x required username="a" password="@@";
wpa_psk=@@
psk="@@"
"""
ORDINARY = r"""
git commit -m "Add password reset flow"
git commit -m 'fix: token refresh'
git log --author=me
curl https://example.com/api/users
curl -sSL https://get.example.com/install.sh
curl -b cookies.txt https://x
curl -u "$USER:$PASS" https://x
curl -H "Authorization: Bearer $TOKEN" https://x
http GET example.com
http -a "$USER:$PW" example.com
docker build -t app:latest .
docker run -p 8080:80 nginx
docker compose -p proj up
npm run test -- --token-file x
npm login
cargo login
vault login
gh auth login
fly auth login
fly deploy
gh secret list
gh secret set NAME
kubectl get secrets
kubectl create secret generic x --from-file=a
vercel deploy -t
snyk test
snyk auth
doppler run -- npm start
doppler secrets
railway login
passwd root
sudo passwd
useradd -m bob
usermod -aG docker bob
zip -r out.zip src
zip -r Project.zip .
unzip a.zip -d out
nmap -p 80 host
ssh -p 2222 host
mkdir -p a/b
ldapsearch -x -b dc=x
grep -rn "password" src/
grep -r 'password: ' .
rg "PASSWORD\s*=" 
SELECT password FROM users
python manage.py changepassword bob
echo "password" | wc -c
echo hello | passwd-check
sed -i 's/password/secret/' f
let token: string = getToken();
password: string
def login(user, password): pass
auth = (user, password)
requests.get(url, auth=(user, pw))
git clone https://github.com/a/b
git clone https://user@bitbucket.org/a/b
http://localhost:8080/x
a:b:c:d
12:30:45 ok
user = "bob"
machine example.com
<token>
<secret/>
<div>text</div>
mc ls x
net use
sqlplus /nolog
sqlplus user@db
impdp help=y
dotnet nuget push x --source y
nuget restore
gem install rails
gem push x.gem
wandb sync
op item list
terraform apply -var-file=x
mosquitto_sub -t a
twine upload dist/*
twine upload -r mine dist/*
rabbitmqctl list_users
iwconfig wlan0
make -j8 test
ls -la
find . -name '*.py'
java -Dfoo=bar -jar x.jar
gradle build -Pversion=1.2
mvn -DskipTests=true package
mvn -Dtest=FooTest test
cp -p a b
tar -xzf a.tgz
rsync -avz --progress a b
pytest -p no:cacheprovider
git config user.name "Bob"
git config --global user.email a@b.c
npm config set registry https://r.example
export PATH=$PATH:/x
export NODE_ENV=production
psql -h localhost -p 5432 -U me db
mysql -u root -p db
mysql -h host -P 3306
redis-cli -p 6379 ping
scp -P 22 a b:
aws ssm put-parameter --type String --name x --value y
aws s3 cp a s3://b/c
/home/u/.pgpass
host:5432:x
"""


@pytest.mark.parametrize("text", [line for line in WRITTEN.splitlines() if line])
def test_a_secret_is_taken_out_wherever_it_is_written(text: str) -> None:
    shown = redact.text(text.replace("@@", SECRET))
    assert SECRET not in shown
    assert redact.text(shown) == shown


@pytest.mark.parametrize("text", [line for line in ORDINARY.splitlines() if line])
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact.text(text) == text
