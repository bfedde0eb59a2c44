import type { FastifyReply, FastifyRequest } from 'fastify'
import { DatabaseError } from 'pg'
import { watchDisconnect } from '../../../api/http/disconnect.ts'
import type { Services } from '../../../api/services.ts'
import { analyse } from '../../../database/connection/analysis.ts'
import { AppError, invalid } from '../../../lib/errors.ts'
import type { RunStep } from '../../rows/statistics.ts'

/** The longest time that an answer about many rows may take. */
export const MAX_ANALYSIS_MS = 10_000
const CANCELLED = '57014'

/** The work of an analysis, and the field of the request that says which rows it reads. */
type Reading<Result> = { read: (run: RunStep) => Promise<Result | undefined>; field?: string }

/**
 * Reads many rows of the sheet for one answer, in steps. The request ends its turn, so that others do not wait for it. The reading
 * ends when the reader leaves, and with a 400 if `read` returns undefined: a step took longer than it may.
 */
export async function analyseRows<Result>(
  request: FastifyRequest,
  reply: FastifyReply,
  { store }: Pick<Services, 'store'>,
  { read, field = 'filters' }: Reading<Result>,
): Promise<Result> {
  const signal = watchDisconnect(reply)
  request.endTurn()
  const found = await read(async (ms, step) => {
    try {
      return await analyse(store, request.sheet.org_id, { ms, signal }, step)
    } catch (cause) {
      if (signal.aborted)
        throw new AppError('Service Unavailable', 'The reader left before the answer was ready')
      if (cause instanceof DatabaseError && cause.code === CANCELLED) return undefined
      throw cause
    }
  })
  if (found !== undefined) return found
  const message = `looking at these rows took more than ${MAX_ANALYSIS_MS / 1000} seconds; select fewer rows`
  throw invalid(field, message)
}
