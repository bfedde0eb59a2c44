const PORT = 5432
const TLS_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] as const

export type TlsMode = (typeof TLS_MODES)[number]
export type Address = {
  host: string
  port: number
  user: string
  password: string
  database: string
  tls: TlsMode
}

const FORM = 'postgres://user:password@host:5432/database'

/** Returns the parts of `postgres://user:password@host:5432/database?sslmode=require`, or what is wrong with it. */
export function readAddress(text: string | undefined): Address | { message: string } {
  const url = URL.parse(text ?? '')
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol) || url.hostname === '') {
    return { message: `the secret of the connection must be an address like ${FORM}` }
  }
  const mode = url.searchParams.get('sslmode') ?? 'prefer'
  const tls = TLS_MODES.find((known) => known === mode)
  if (tls === undefined) return { message: `sslmode of the address must be one of: ${TLS_MODES.join(', ')}` }
  try {
    const user = decodeURIComponent(url.username)
    return {
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port === '' ? PORT : Number(url.port),
      user,
      password: decodeURIComponent(url.password),
      database: decodeURIComponent(url.pathname.slice(1)) || user,
      tls,
    }
  } catch {
    return { message: 'the address of the connection has a % that starts no escape; write it as %25' }
  }
}
