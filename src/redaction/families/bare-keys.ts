/**
 * Keys without a prefix of their own: forms that a whole run of base64 characters has, and issuers
 * that stand before one.
 */

import type { Look } from '../characters.ts';

/**
 * A form that a whole run of base64 characters has. Sticky from its first character; tried only on
 * runs of such a length.
 */
interface RunFamily {
  readonly label: string;
  readonly min: number;
  readonly max: number;
  readonly shape: RegExp;
  readonly look: Look;
}

const run = (
  label: string,
  min: number,
  max: number,
  shape: RegExp,
  look: Look = 'mixed',
): RunFamily => Object.freeze({ label, min, max, shape, look });

export const RUNS: readonly RunFamily[] = Object.freeze([
  run('twilio', 34, 34, /SK[0-9a-f]{32}(?![\w-])/y),
  run('discord', 23, 28, /[MNO][A-Za-z\d_-]{22,27}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])/y),
  run('mailgun', 50, 50, /[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![\w-])/y),
  run('vault', 24, 24, /(?<=(?<![\w.])[sbr]\.)[A-Za-z0-9]{24}(?![\w.(-])/y, 'mixed'),
  run('uptimerobot', 31, 35, /(?:ur|u|m)\d{6,9}-[0-9a-f]{24}(?![\w-])/y),
  run('asana', 18, 20, /[0-2]\/\d{14,17}(?:\/\d{14,17})?:[0-9a-f]{32}/y, 'any'),
  run('beamer', 46, 46, /b_[\w=-]{44}(?![\w-])/y, 'strong'),
  run('sanity', 80, 220, /sk[A-Za-z0-9]{78,218}(?![\w-])/y, 'strong'),
  run(
    'azure',
    84,
    84,
    /[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{18}A[A-Za-z0-9]{3}[A-Za-z0-9]{4}(?![\w-])/y,
    'strong',
  ),
  run('azure', 84, 84, /[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{26}(?![\w-])/y, 'strong'),
  run('azure', 84, 84, /[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}(?![\w-])/y, 'strong'),
  run(
    'azure',
    86,
    86,
    /[A-Za-z0-9+/]{76}(?:\+ASt|ACDb|APIM|\+AMC|\+ABa|\+ARm|AzSe|\+AIo)[A-Za-z0-9+/]{6}==/y,
    'strong',
  ),
  run(
    'azure',
    42,
    56,
    /[A-Za-z0-9+/_-]{32,46}(?:\+ASb|\+AEh|\+ARm|AIoT|APIM|AZEG|AzFu|AzCa|AzSe|\+ACR)[A-Za-z0-9+/_-]{2,8}={0,2}/y,
    'strong',
  ),
]);

/**
 * Issuers whose keys are bare hex, UUIDs or letters and digits. A run that looks generated is
 * theirs where the issuer and a word such as `key` stand before it in the same line.
 */
export const ISSUERS: ReadonlySet<string> = new Set(
  `abuseipdb adyen ahrefs airbrake airtable aiven akamai alchemy algolia alibaba aliyun alphavantage amplitude anthropic apify
  apollo appcenter appdynamics appsflyer artifactory asana assemblyai atlassian auth0 authy aws azure backblaze baidu bamboo bandwidth
  baremetrics betterstack binance bitbucket bitly bittrex blockfrost box braintree branch braze brevo browserstack bugsnag buildkite
  bunny buttercms bybit calendly cerebras chargebee checkmarx chartmogul circle circleci clearbit clickhouse clicksend clickup
  cloudconvert cloudflare cloudinary cloudsmith cloudways cockroach codacy codeclimate codecov cohere coinbase coinmarketcap confluent
  consul contentful convertkit convex couchbase coveralls covalent crates crowdin crowdstrike crunchbase customerio cypress dashscope
  databricks datadog datarobot dd deepgram deepl deepseek dialpad digicert digitalocean discord discourse disqus docker docusign dome9
  doppler dropbox drone droneci duo dynatrace easypost ebay elastic elasticsearch elevenlabs enigma equinix etherscan etsy eventbrite
  everhour exa expo fastly fauna figma filestack finage finicity finnhub fireworks fivetran flickr flutterwave fly foursquare
  freshbooks freshdesk frontapp fullstory gandi geocodio gemfury ghost giphy gitea github gitlab gitter gocardless godaddy google gong
  grafana groq guardian gumroad harness hasura heap hellosign helpscout here heroku hetzner holistics honeybadger honeycomb hotjar
  hubspot huggingface hunter hypertrack ibm iex imgix imgur infobip influx influxdb infura insightly instabot instana intercom ipinfo
  ipstack iterable jenkins jfrog jira jotform jumpcloud kaggle keen kickbox klaviyo klarna kraken kucoin langfuse langsmith lastpass
  launchdarkly leadfeeder lever line linear linkedin linode litmus livechat livekit lob logdna loggly logz logzio lokalise looker lumigo
  mailboxlayer mailchimp mailgun mailjet mailtrap mandrill mapbox mapquest mattermost maxmind meraki messagebird metabase midjourney
  mistral mixpanel moesif monday mongodb moosend mux nasa neon netlify newrelic nexmo ngrok nightfall nimble notion npm nutritionix nvidia
  nytimes okta omnisend onelogin onesignal onfido openai opencage openrouter openweather openweathermap opsgenie optimizely oracle ovh
  pagerduty paperspace papertrail parseur pastebin paypal paystack pdfshift pendo percy perplexity phrase pinecone pingdom pipedrive
  pivotal plaid planetscale plivo poeditor polygon postmark postman powerbi prismic productboard pubnub pusher pushover qdrant qualys
  quay quickbooks quicknode rapid7 rapidapi raygun razorpay readme recurly redis render replicate rev rollbar rubygems runpod salesforce
  samsara saucelabs scaleway scalingo scrapingbee securitytrails segment semaphore semgrep semrush sendbird sendgrid sendinblue sentinelone
  sentry serpapi serverless sharefile shippo shodan shopify shortcut signalfx sinch skype slack smartsheet snowflake snyk solarwinds sonar
  sonarqube sonatype soundcloud sparkpost spectralops splunk spotify square squarespace stability statuspage stormglass strapi stripe
  sumo sumologic supabase surveymonkey tableau tavily teamcity teamviewer telegram telnyx tencent together tomtom travis trello turso
  twilio twitch twitter typeform typesense uber unsplash uploadcare upstash uptimerobot urlscan vault vercel vero virustotal vonage vultr
  wandb wasabi weaviate webex webflow weights wepay whatsapp wistia woocommerce workday workos wrike xai xero yahoo yandex yelp youtube
  zapier zendesk zenduty zeplin zerotier zhipu zilliz zoho zoom zuora`.split(/\s+/),
);
