/** Keys of clouds and hosting. */

import { block, named, shape, whole } from '../carriers.ts';

/** Amazon, Google and the Azure keys that carry a signature of their own. */
export const CLOUD = [
  shape('aws-access-key-id', 'gitleaks: aws-access-token', 'AKIA{BASE32:16}'),
  shape('aws-temporary-key-id', 'gitleaks: aws-access-token', 'ASIA{BASE32:16}'),
  shape(
    'aws-bearer-key-id',
    'docs: AWS IAM unique identifiers',
    'ABIA{BASE32:16}',
    'ACCA{BASE32:16}',
  ),
  named(
    'aws-secret-access-key',
    'kingfisher: aws.2',
    'AWS_SECRET_ACCESS_KEY aws_secret_access_key secretAccessKey',
    '{base64:40}',
  ),
  named(
    'aws-session-token',
    'kingfisher: aws.4',
    'AWS_SESSION_TOKEN aws_session_token sessionToken',
    'IQoJb3JpZ2luX2Vj{base64:320}==',
  ),
  whole(
    'aws-credentials-file',
    'docs: AWS CLI configuration files',
    '[default]\naws_access_key_id = AKIA{~BASE32:16}\naws_secret_access_key = {base64:40}\nregion = eu-west-1\n',
  ),
  whole(
    'aws-key-pair-of-csv',
    'docs: AWS IAM access keys',
    'Access key ID,Secret access key\nAKIA{~BASE32:16},{base64:40}\n',
  ),
  whole(
    'aws-key-pair-in-prose',
    'trufflehog: aws',
    'The new pair is AKIA{~BASE32:16} / {base64:40}, please store it.',
  ),
  shape('aws-mws-key', 'trufflehog: amazonmws', 'amzn.mws.{uuid}'),
  shape('aws-appsync-key', 'docs: AWS AppSync API keys', 'da2-{lower:26}'),
  shape(
    'aws-bedrock-key',
    'kingfisher: aws.bedrock.long_lived',
    'ABSKQmVkcm9ja0FQSUtleS{base64:110}=',
  ),
  shape(
    'aws-bedrock-short-key',
    'kingfisher: aws.6',
    'bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t{base64:400}',
  ),
  whole(
    'aws-presigned-url',
    'docs: AWS SigV4 query parameters',
    'https://bucket.s3.eu-west-1.amazonaws.com/report.pdf?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIA{~BASE32:16}%2F20310211%2Feu-west-1%2Fs3%2Faws4_request&X-Amz-Date=20310211T091403Z&X-Amz-Expires=900&X-Amz-SignedHeaders=host&X-Amz-Signature={hex:64}',
  ),
  shape('gcp-api-key', 'gitleaks: gcp-api-key', 'AIzaSy{base64url:33}'),
  shape('google-oauth-client-secret', 'trufflehog: googleoauth2', 'GOCSPX-{base64url:28}'),
  shape('google-oauth-access-token', 'docs: Google OAuth 2.0 tokens', 'ya29.a0{base64url:180}'),
  shape('google-refresh-token', 'docs: Google OAuth 2.0 playground', '1//0{base64url:98}'),
  whole(
    'gcp-service-account',
    'secretlint: gcp',
    `{\n  "type": "service_account",\n  "project_id": "shop-{~digits:6}",\n  "private_key_id": "{~hex:40}",\n  "private_key": "${block('PRIVATE KEY', '{pemline:1600}', '\\n')}",\n  "client_email": "api@shop.iam.gserviceaccount.com"\n}`,
  ),
  named(
    'gcp-hmac-secret',
    'docs: Google Cloud Storage HMAC keys',
    'GCS_HMAC_SECRET GOOG_SECRET_ACCESS_KEY',
    '{base64:40}',
  ),
  shape(
    'firebase-server-key',
    'trufflehog: firebasecloudmessaging',
    'AAAA{base64url:7}:APA91b{base64url:134}',
  ),
  shape(
    'azure-ad-client-secret',
    'security-utilities: SEC101/156',
    '{base62:3}8Q~{base64url:34}',
    '{base62:3}7Q~{base64url:31}',
  ),
  shape(
    'azure-function-key',
    'security-utilities: SEC101/158',
    '{base64url:44}AzFu{base64url:5}A==',
  ),
  shape('azure-search-key', 'security-utilities: SEC101/167', '{base62:42}AzSeA{base62:5}'),
  shape('azure-relay-key', 'security-utilities: SEC101/173', '{base64:33}+ARmA{base64:5}='),
  shape('azure-event-hub-key', 'security-utilities: SEC101/172', '{base64:33}+AEhB{base64:5}='),
  shape('azure-service-bus-key', 'security-utilities: SEC101/171', '{base64:33}+ASbC{base64:5}='),
  shape('azure-iot-key', 'security-utilities: SEC101/178', '{base64:33}AIoTD{base64:5}='),
  shape('azure-storage-key', 'security-utilities: SEC101/152', '{base64:76}+ASt{base64:5}A=='),
  shape('azure-cosmos-key', 'security-utilities: SEC101/160', '{base64:76}ACDb{base64:5}Q=='),
  shape('azure-batch-key', 'security-utilities: SEC101/163', '{base64:76}+ABa{base64:5}g=='),
  shape(
    'azure-machine-learning-key',
    'security-utilities: SEC101/170',
    '{base64:76}+AMC{base64:5}w==',
  ),
  shape(
    'azure-api-management-key',
    'security-utilities: SEC101/182',
    '{base64:76}APIM{base64:5}A==',
  ),
  shape('azure-redis-key', 'security-utilities: SEC101/154', '{base64:33}AzCaA{base64:5}='),
  shape(
    'azure-container-registry-key',
    'security-utilities: SEC101/176',
    '{base64:42}+ACRA{base64:5}',
  ),
  shape('azure-event-grid-key', 'security-utilities: SEC101/199', '{base64:33}AZEGB{base64:5}='),
  shape(
    'azure-annotated-key',
    'security-utilities: SEC101/200',
    '{base62:52}JQQJ99BA{base62:16}A{base62:7}',
  ),
  shape(
    'azure-devops-pat',
    'docs: Azure DevOps personal access tokens',
    '{base62:76}AZDO{base62:4}',
  ),
  named(
    'azure-devops-legacy-pat',
    'security-utilities: SEC101/102',
    'AZURE_DEVOPS_EXT_PAT SYSTEM_ACCESSTOKEN',
    '{base32:52}',
  ),
  named(
    'azure-openai-key',
    'kingfisher: azureopenai.1',
    'AZURE_OPENAI_API_KEY AZURE_OPENAI_KEY',
    '{hex:32}',
  ),
  whole(
    'azure-storage-connection-string',
    'detect-secrets: azure_storage_key',
    'DefaultEndpointsProtocol=https;AccountName=shop{~digits:4};AccountKey={base64:86}==;EndpointSuffix=core.windows.net',
  ),
  whole(
    'azure-service-bus-connection-string',
    'security-utilities: SEC101/105',
    'Endpoint=sb://shop.servicebus.windows.net/;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey={base64:43}=',
  ),
  whole(
    'azure-app-configuration-connection-string',
    'github: azure_app_configuration_connection_string',
    'Endpoint=https://shop.azconfig.io;Id=abcd-l0-s0:{~base62:20};Secret={base64:43}=',
  ),
  whole(
    'azure-signalr-connection-string',
    'kingfisher: azuresignalr',
    'Endpoint=https://shop.service.signalr.net;AccessKey={base64:43}=;Version=1.0;',
  ),
  whole(
    'azure-sas-url',
    'detect-secrets: azure',
    'https://shop.blob.core.windows.net/logs/app.log?sv=2031-02-11&ss=b&srt=sco&sp=rl&se=2031-03-01T00:00:00Z&spr=https&sig={base62:40}%3D',
  ),
  whole(
    'azure-logic-app-url',
    'kingfisher: azurelogicapps',
    'https://prod-12.westeurope.logic.azure.com:443/workflows/{~hex:32}/triggers/manual/paths/invoke?api-version=2016-10-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig={base64url:43}',
  ),
];
