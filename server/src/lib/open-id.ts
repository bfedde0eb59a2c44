import * as client from 'openid-client'
import type { Config } from './config/config.ts'
import { announceCall } from './outside-calls.ts'

/** What a provider says of whoever signed in there. */
export type Identity = {
  email: string | null
  isVerified: boolean
  firstName: string | null
  lastName: string | null
}

/** Kept by the browser between the way there and the way back, sealed: nobody else can finish what it began. */
export type Attempt = { state: string; nonce: string; verifier: string }

export type OpenId = {
  /** Where the browser goes, and what it brings back. */
  begin(callback: string): Promise<{ url: string; attempt: Attempt }>
  /** Who came back; throws when the answer is not one to this attempt. */
  finish(returned: URL, attempt: Attempt): Promise<Identity>
}

/** The code flow with PKCE, state and nonce; null where no provider is set. Its description is read when it is first needed. */
export function createOpenId(config: Config): OpenId | null {
  const { LOAM_OIDC_ISSUER: issuer, LOAM_OIDC_CLIENT_ID: id, LOAM_OIDC_CLIENT_SECRET: secret } = config
  if (issuer === undefined || id === undefined || secret === undefined) return null
  const url = new URL(issuer)
  // Settings allow plain http on this machine only.
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
      // Many providers name the address only when they are asked for it.
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
    // People choose their names there: what cannot be stored, or is no name, is as if it were not said.
    const isTold = typeof value === 'string' && value.trim() !== '' && value.length <= MAX_CLAIM
    return isTold && !value.includes('\0') && value.isWellFormed() ? value.trim() : null
  }
  return {
    email: text('email')?.toLowerCase() ?? null,
    isVerified: claims['email_verified'] === true,
    firstName: text('given_name'),
    lastName: text('family_name'),
  }
}
