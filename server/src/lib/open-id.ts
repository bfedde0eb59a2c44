import * as client from 'openid-client'
import type { Config } from './config/config.ts'
import { announceCall } from './outside-calls.ts'

/** The claims of an identity provider about the user who signed in there. */
export type Identity = {
  email: string | null
  isVerified: boolean
  firstName: string | null
  lastName: string | null
}

/**
 * The state of one sign-in attempt. The browser keeps it sealed between leaving for the provider and
 * returning, so that nobody else can finish the attempt.
 */
export type Attempt = { state: string; nonce: string; verifier: string }

export type OpenId = {
  /** Returns the URL for the browser and the attempt, which the browser brings back. */
  begin(callback: string): Promise<{ url: string; attempt: Attempt }>
  /**
   * Returns the identity of the user who came back. Throws if the response does not belong to this attempt.
   */
  finish(returned: URL, attempt: Attempt): Promise<Identity>
}

/**
 * Creates the authorization code flow with PKCE, state and nonce. Returns null if no provider is configured.
 * The provider's metadata is read when it is first needed.
 */
export function createOpenId(config: Config): OpenId | null {
  const { LOAM_OIDC_ISSUER: issuer, LOAM_OIDC_CLIENT_ID: id, LOAM_OIDC_CLIENT_SECRET: secret } = config
  if (issuer === undefined || id === undefined || secret === undefined) return null
  const url = new URL(issuer)
  // The settings allow plain http only on this machine.
  const execute = url.protocol === 'http:' ? [client.allowInsecureRequests] : []
  let known: Promise<client.Configuration> | undefined

  function discover(): Promise<client.Configuration> {
    announceCall('the OpenID provider')
    known ??= client.discovery(url, id ?? '', secret, undefined, { execute }).catch((cause: unknown) => {
      known = undefined
      throw cause
    })
    return known
  }

  return {
    async begin(callback) {
      const provider = await discover()
      const attempt = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        verifier: client.randomPKCECodeVerifier(),
      }
      const target = client.buildAuthorizationUrl(provider, {
        redirect_uri: callback,
        scope: 'openid email profile',
        state: attempt.state,
        nonce: attempt.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(attempt.verifier),
        code_challenge_method: 'S256',
      })
      return { url: target.href, attempt }
    },

    async finish(returned, { state, nonce, verifier }) {
      const provider = await discover()
      const tokens = await client.authorizationCodeGrant(provider, returned, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      })
      const claims = tokens.claims()
      if (claims === undefined) throw new Error('the provider sent no id token')
      // Many providers return the address only from the userinfo endpoint.
      const info =
        claims['email'] === undefined && provider.serverMetadata().userinfo_endpoint !== undefined
          ? await client.fetchUserInfo(provider, tokens.access_token, claims.sub)
          : claims
      return identityOf(info)
    },
  }
}

const MAX_CLAIM = 320

function identityOf(claims: Readonly<Record<string, unknown>>): Identity {
  const text = (name: string) => {
    const value = claims[name]
    // Users choose these names freely. A value that cannot be stored, or is not a name, counts as missing.
    const isUsable = typeof value === 'string' && value.trim() !== '' && value.length <= MAX_CLAIM
    return isUsable && !value.includes('\0') && value.isWellFormed() ? value.trim() : null
  }
  return {
    email: text('email')?.toLowerCase() ?? null,
    isVerified: claims['email_verified'] === true,
    firstName: text('given_name'),
    lastName: text('family_name'),
  }
}
