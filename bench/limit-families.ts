/**
 * How the tokens of many issuers begin: a name for the marker, then prefixes. Copied once from what
 * `allium/redaction` publishes as `FAMILIES`, so that the limit looks for as much as the package
 * does; what follows a prefix is told by one rule for all of them, not by the format of each.
 */

export const FAMILIES = `
github ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ GHSAT0AAAAAA; gitlab glpat- gldt- glrt- glrtr- glcbt-
glptt- glft- glimt- glagent- gloas- glsoat- glwt- glffct- GR1348941 _gitlab_session=; bitbucket
ATBB ATCTT3xFfG BBDC-; atlassian ATATT3 ATSTT3 ATOA ATTA; gitea gta_ gto_ gtr_; sourcegraph sgp_
sgs_ sgd_ slk_; npm npm_; pypi pypi-; rubygems rubygems_; nuget oy2; crates cio; docker dckr_pat_
dckr_oat_ dckr_or_; clojars CLOJARS_; jfrog AKCp cmVmd; codesandbox csb_v1_; infracost ico-;
packagist packagist_; open-vsx ovsxp_ ovsxat_; jsr jsrp_ jsrd_; deno ddp_ ddw_ ddo_; hex-pm hex_;
circleci CCIPAT_ CCIPRJ_; buildkite bkua_ bkat_ bkaj_ bkct_ bkpt_ bkpat_; sonar sqp_ squ_ sqa_;
octopus API-; appveyor v2.; veracode vera01ei- vera01es-; socket sktsec_; depot depot_project_
depot_org_ depot_user_; chromatic chpt_; gitpod gitpod_pat_; codecov codecov_; launchdarkly sdk-
mob- api-; statsig secret- console-; configcat configcat-sdk-; prefect pnu_ pnb_; dbt dbtc_ dbts_
dbtu_; expo EXPO_; phabricator cli-; tolgee tgpak_ tgpat_; censys censys_; doppler dp.pt. dp.st.
dp.ct. dp.sa. dp.scim. dp.audit. dp.said.; terraform tfc-; spacelift spacelift_; qovery qov_;
cursor crsr_ key_; anthropic sk-ant-; openai sk-proj- sk-svcacct- sk-admin- sk-None- sess-;
openrouter sk-or-; langfuse sk-lf- pk-lf-; litellm sk-litellm-; helicone sk-helicone-; api-key
sk- pat_ api_ apikey_ token_ tok_ rk_ ak_ token-; google AIza AQ.Ab GOCSPX- ya29. ya29.c.; groq
gsk_; xai xai-; huggingface hf_ api_org_; replicate r8_; perplexity pplx-; together tgp_v1_;
fireworks fw_; elevenlabs sk_; langsmith lsv2_pt_ lsv2_sk_ ls__; voyage pa-; jina jina_; tavily
tvly-; firecrawl fc-; nvidia nvapi-; cerebras csk-; runpod rpa_; modal ak- as-; wandb wandb_v1_
local-; pinecone pcsk_; e2b e2b_; browserbase bb_live_ bb_test_; portkey pk-; braintrust bt-st-;
anyscale esecret_ aph0_; llamacloud llx-; mem0 m0-; context7 ctx7sk-; brave BSA; dify app-
dataset-; vercel vck_ vcp_ vci_ vca_ vcr_ vercel_blob_rw_; luma luma-; letta sk-let-; kaggle
KGAT_; wolfram APPID-; apify apify_api_; friendli flp_; scale live_ test_; aws ABSK
bedrock-api-key- FwoGZXIvYXdz IQoJb3JpZ2lu FQoGZXIvYXdz amzn.mws. da2-; digitalocean dop_v1_
doo_v1_ dor_v1_; heroku HRKU-; fly fo1_ fm1_ fm1a_ fm1r_ fm2_; netlify nfp_ nfc_ nfo_ nfu_;
cloudflare cfut_ cfat_ cfk_; alibaba LTAI; tencent AKID; yandex t1. y0_ y1_ y2_ y3_ AQVN YCAJE
YCM; vault hvs. hvb. hvr.; pulumi pul-; 1password ops_eyJ; age AGE-SECRET-KEY-1
AGE-SECRET-KEY-PQ-1 AGE-PLUGIN-; tailscale tskey-; scaleway SCW; render rnd_; infisical st.;
akamai akab-; openshift sha256~; defined dnkey-; ngrok ngrok_ cr_; zerotier zt_; bunny bunny_;
planetscale pscale_tkn_ pscale_pw_ pscale_oauth_ pscale_; neon napi_ npg_; supabase sbp_
sb_secret_ sb_publishable_; mongodb mdb_sa_sk_; databricks dapi dose dkea; cockroachdb CCDB1_;
fauna fnA; xata xau_; aiven aivenv1_ AVNS_; elastic essu_ ess_; astra AstraCS:; dolt dhat.v1.;
confluent cflt; upstash UPSTASH_; redis redis-api-; settlemint sm_pat_ sm_aat_ sm_sat_; ibm
ApiKey-; backstage bsk_; scalingo tk-us- tk-eu-; netbird nbp_; upcloud ucat_; clickhouse 4b1d;
hetzner hcloud_; newrelic NRAK- NRII- NRIQ- NRRA- NRSP- NRAA- NRBR- NRJS- eu01xx; grafana glc_
eyJrIjoi; sentry sntrys_ sntryu_ sntrya_ sntryi_; honeycomb hcaik_ hcamk_ hcxik_ hcxmk_ hcbik_
hcalk_ hcaic_; axiom xaat- xapt- xait-; checkly cu_; posthog phx_ phs_ phc_; coralogix cxtp_
cxup_ cxth_; incident-io inc_; opsgenie og_; pagerduty pdus+_ pdeu+_; logfire pylf_v; instatus
inst_; observe ds1; slack xoxb- xoxp- xoxa- xoxr- xoxs- xoxe- xoxc- xoxd- xoxo- xoxe. xapp-
xwfp-; mailgun key- pubkey-; mandrill md-; pubnub sec-c- pub-c- sub-c-; brevo xkeysib- xsmtpsib-;
discord mfa.; resend re_; mailersend mlsn.; customer-io cio_; intercom dG9rO; onesignal
os_v2_app_ os_v2_org_; facebook EAACEdEose0cBA EAA; instagram IGQV IGQW IGAA; threads THAA;
twitter AAAAAAAAAAAAAAAAAAAAA; matrix syt_; honeybadger hbp_; pinterest pina_ pinc_; amazon Atzr|
Atza| amzn1.oa2-cs.v1.; ntfy tk_; linkedin WPL_AP1. WPL_AP0.; svix testsk_ sk_eu_ sk_us_; zendesk
/token:; stripe sk_live_ sk_test_ rk_live_ rk_test_ pk_live_ pk_test_ sk_org_live_ sk_org_test_
whsec_ we_; square sq0atp- sq0csp- sq0idp- sandbox-sq0idb- sandbox-sq0csb- EAAA; adyen AQE;
razorpay rzp_live_ rzp_test_; shopify shpat_ shpca_ shppa_ shpss_ shptka_ shpua_ shpit_ shprt_
atkn_ prtapi_; flutterwave FLWSECK_TEST- FLWSECK- FLWPUBK_TEST- FLWPUBK- FLWSECK_TEST; gocardless
sandbox_; mollie access_; checkout sk_sbox_ pk_sbox_; paddle pdl_live_apikey_ pdl_sdbx_apikey_
pdl_ntfset_; mercadopago APP_USR- TEST-; polar polar_oat_ polar_pat_ polar_whs_; easypost EZAK
EZTK; shippo shippo_live_ shippo_test_; duffel duffel_live_ duffel_test_; xendit xnd_production_
xnd_development_; woocommerce ck_ cs_; clerk ak_live_; notion ntn_ secret_; linear lin_api_
lin_oauth_ lin_wh_; figma figd_ figo_ figu_; hubspot pat-na1- pat-na2- pat-na3- pat-eu1-
pat-ap1-; salesforce 5Aep861 3MVG9; dropbox sl. sl.u. sl.B; contentful CFPAT-; postman PMAT-;
frameio fio-u- fio-p-; readme rdme_; typeform tfp_; adafruit aio_; adobe p8e-; klaviyo pk_;
cal-com cal_live_ cal_; retool retool_; n8n n8n_api_; stytch secret-live- secret-test-; hex-tech
hxtp_ hxtw_; metabase mb_; riot RGAPI-; patreon patreon_; lichess lip_; ramp ramp_id_ ramp_sec_;
mailerlite mlr_; tines tines_; bitrise bitpat_; squarespace sqsp_; wakatime waka_; fastspring
fsprg_; yelp Yelp_; calendly cly_; hashnode hn_; buttondown bd_; unkey unkey_;
`;
