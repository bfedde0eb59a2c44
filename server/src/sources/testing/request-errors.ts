import { AppError } from '../../lib/errors.ts'
import { loadSources } from '../registry.ts'
import { readRequest } from '../request.ts'

/** What a source says of a body that it refuses, as `field message` lines; empty when it takes it. */
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
