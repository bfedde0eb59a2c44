import { AppError } from '../../lib/errors.ts'
import { loadSources } from '../registry.ts'
import { readRequest } from '../request.ts'

/** Returns a source's errors for a body as `field message` lines. Empty if the body is accepted. */
export async function requestErrors(slug: string, body: Record<string, unknown>): Promise<string> {
  const source = (await loadSources()).get(slug)
  if (source === undefined) throw new Error(`there is no source ${slug}`)
  try {
    readRequest(source, body)
    return ''
  } catch (cause) {
    if (!(cause instanceof AppError)) throw cause
    return (cause.details.errors ?? []).map(({ field, message }) => `${field} ${message}`).join('\n')
  }
}
