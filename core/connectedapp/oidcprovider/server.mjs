// An OpenID provider on loopback whose user says yes to everything. Configured
// by the environment: PORT, CLIENT_ID, CLIENT_SECRET, REDIRECT_URI, and
// ACCESS_TTL, the life of access tokens in seconds. It prints "ready" once it
// listens and ends with its standard input.
import Koa from 'koa';
import { Provider } from 'oidc-provider';

const { PORT, CLIENT_ID, CLIENT_SECRET, REDIRECT_URI, ACCESS_TTL } = process.env;
const issuer = `http://127.0.0.1:${PORT}`;

const provider = new Provider(issuer, {
  clients: [{
    client_id: CLIENT_ID,
    client_secret: CLIENT_SECRET,
    redirect_uris: [REDIRECT_URI],
    grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
    token_endpoint_auth_method: 'client_secret_basic',
  }],
  scopes: ['openid', 'offline_access', 'profile', 'email'],
  claims: { openid: ['sub'], profile: ['name'], email: ['email', 'email_verified', 'groups'], acr: null, amr: null },
  acrValues: ['urn:two'],
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    revocation: { enabled: true },
  },
  ttl: {
    AccessToken: Number(ACCESS_TTL), AuthorizationCode: 60, ClientCredentials: Number(ACCESS_TTL),
    Grant: 86400, IdToken: 3600, Interaction: 600, RefreshToken: 86400, Session: 86400,
  },
  rotateRefreshToken: true,
  issueRefreshToken: async (ctx, client, code) => code.scopes.has('offline_access'),
  cookies: { keys: ['for tests'] },
  findAccount: async (ctx, id) => ({ accountId: id, claims: async () => ({ sub: id, name: 'Ada', email: 'ada@example.com', email_verified: true, groups: ['staff'] }) }),
  interactions: { url: (ctx, interaction) => `/interaction/${interaction.uid}` },
});

const app = new Koa();
app.use(async (ctx, next) => {
  if (!ctx.path.startsWith('/interaction/')) return next();
  const { prompt, params, session, grantId } = await provider.interactionDetails(ctx.req, ctx.res);
  if (prompt.name === 'login') {
    await provider.interactionFinished(ctx.req, ctx.res, { login: { accountId: 'ada', ...(params.acr_values ? { acr: params.acr_values, amr: ['pwd', 'mfa'] } : {}) } });
    ctx.respond = false;
    return undefined;
  }
  const grant = grantId ? await provider.Grant.find(grantId)
    : new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
  grant.addOIDCScope(params.scope);
  await provider.interactionFinished(ctx.req, ctx.res, { consent: { grantId: await grant.save() } });
  ctx.respond = false;
  return undefined;
});
const answer = provider.callback();
app.use(async (ctx) => {
  ctx.respond = false;
  return answer(ctx.req, ctx.res);
});

app.listen(Number(PORT), '127.0.0.1', () => console.log('ready'));
process.stdin.on('end', () => process.exit(0)).resume();
