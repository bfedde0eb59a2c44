import { once } from 'node:events'
import { connect } from 'node:net'
import type { Config } from '#server/lib/config.ts'
import { wordsOf } from '../failure.ts'
import { serverAddress } from '../server-address.ts'
import { type Check, fail, ok, warn } from './check.ts'

const PATIENCE_MS = 5000

/** Connects and says goodbye; no mail is sent. */
export async function checkMail(config: Config): Promise<Check> {
  if (config.LOAM_SMTP_URL === undefined) {
    return ok('mail', 'LOAM_SMTP_URL is not set: invitation links are in `loam invitation list`')
  }
  const { protocol, hostname, port } = new URL(config.LOAM_SMTP_URL)
  const target = {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || (protocol === 'smtps:' ? 465 : 587)),
  }
  const socket = connect(target)
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(PATIENCE_MS) })
    return ok('mail', `${target.host}:${target.port} accepts connections`)
  } catch (cause) {
    const detail = `${target.host}:${target.port} cannot be reached: ${wordsOf(cause)}`
    return fail('mail', detail, 'check LOAM_SMTP_URL and that the mail server runs')
  } finally {
    socket.destroy()
  }
}

export async function checkServer(config: Config): Promise<Check> {
  const address = serverAddress(config)
  const start = 'start it with npm start or loam serve'
  if (config.PORT === 0) return warn('server', 'PORT is 0, so its address is not known here', 'set PORT')
  try {
    const response = await fetch(`${address}/readyz`, { signal: AbortSignal.timeout(PATIENCE_MS) })
    const body = await response.text()
    if (response.status === 200 && body.includes('"ready":true')) return ok('server', `ready at ${address}`)
    if (response.status === 503) return fail('server', `${address} is not ready: ${body}`, 'see its log')
    const detail = `another program answers at ${address} (status ${response.status})`
    return fail('server', detail, 'end it, or set PORT to another port')
  } catch (cause) {
    const reason = cause instanceof Error && cause.cause !== undefined ? cause.cause : cause
    if (reason instanceof Error && 'code' in reason && reason.code === 'ECONNREFUSED') {
      return warn('server', `not running at ${address}`, start)
    }
    return fail('server', `${address} does not answer: ${wordsOf(reason)}`, start)
  }
}
