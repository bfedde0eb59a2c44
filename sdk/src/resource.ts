import type { Call } from './call.ts'
import type { CallOptions } from './options.ts'
import type { Query, Transport } from './transport.ts'
import type { Warning } from './wire.ts'

type Envelope = { data?: unknown; warnings?: Warning[] }

/** The result of an endpoint that warns: its data and `warnings`. */
export type Warned<Data> = Data & { warnings: Warning[] }

export type More = {
  query?: Query | undefined
  body?: unknown
  raw?: RequestInit['body']
  reads?: boolean
  timeout?: number
}

/** The base of the groups of methods, such as `loam.rows`. The transport, which knows the key, is not visible. */
export class Resource {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  protected get transport(): Transport {
    return this.#transport
  }

  /** Calls an endpoint. The result is the `data` of its answer. */
  protected call<Data>(method: string, path: string, options?: CallOptions, more: More = {}): Call<Data> {
    return this.whole(method, path, options, more).map((answer) => (answer as Envelope).data as Data)
  }

  /** Calls an endpoint that warns. */
  protected warned<Data>(
    method: string,
    path: string,
    options?: CallOptions,
    more: More = {},
  ): Call<Warned<Data>> {
    return this.whole(method, path, options, more).map((answer) => {
      const { data, warnings = [] } = answer as Envelope
      return { ...(data as Data), warnings }
    })
  }

  /** Calls an endpoint. The result is its whole answer. */
  protected whole(method: string, path: string, options?: CallOptions, more: More = {}): Call<unknown> {
    return this.#transport.send({ method, path, options, ...more })
  }
}
