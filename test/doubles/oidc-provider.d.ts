declare module 'oidc-provider' {
  import type { RequestListener } from 'node:http'
  export class Provider {
    constructor(
      issuer: string,
      configuration: Record<string, unknown> & {
        findAccount?: (
          context: unknown,
          id: string,
        ) => { accountId: string; claims: () => Record<string, unknown> }
      },
    )
    callback(): RequestListener
  }
}
