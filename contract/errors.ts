import { z } from 'zod'
import { Warning } from './envelope.ts'

/** Every code an error answer can carry, with its status. The reason phrases stand for unnamed errors (D5). */
export const ERROR_STATUS = {
  'Validation Error': 400,
  Unauthorized: 401,
  INSUFFICIENT_CREDITS: 402,
  MAX_CREDITS_REACHED: 402,
  BUDGET_REACHED: 402,
  Forbidden: 403,
  INSUFFICIENT_SCOPE: 403,
  CSRF: 403,
  'Not Found': 404,
  Conflict: 409,
  ALREADY_INVITED: 409,
  ALREADY_MEMBER: 409,
  NOTHING_TO_RESTORE: 409,
  MEMBER_LIMIT_REACHED: 409,
  NO_MAIL_SERVER: 409,
  SECRET_UNREADABLE: 409,
  ROW_LIMIT_REACHED: 409,
  STORAGE_LIMIT_REACHED: 409,
  Gone: 410,
  'Payload Too Large': 413,
  'Unsupported Media Type': 415,
  'Range Not Satisfiable': 416,
  'Unprocessable Entity': 422,
  'Too Many Requests': 429,
  RATE_LIMITED: 429,
  'Internal Server Error': 500,
  AGENT_INTERNAL_ERROR: 500,
  AGENT_EXECUTION_FAILED: 500,
  'Service Unavailable': 503,
  AGENT_BUSY: 503,
  AGENT_TIMEOUT: 504,
} as const
export type ErrorCode = keyof typeof ERROR_STATUS

export const FieldError = z.object({ field: z.string(), message: z.string() })
export type FieldError = z.infer<typeof FieldError>

/** What any error may carry besides. */
const MORE = {
  code: z.string().optional(),
  warnings: z.array(Warning).optional(),
  request_id: z.string().optional().describe('Of the web agent'),
}

export const ErrorBody = z
  .object({
    status: z.int(),
    error: z.string().describe('A named code, or the HTTP reason phrase'),
    message: z.string().describe('What is wrong and what to do'),
    ...MORE,
  })
  .meta({ id: 'Error' })

export const ValidationErrorBody = z
  .object({
    status: z.literal(400),
    error: z.literal('Validation Error'),
    message: z.string().describe('`<N> validation errors`'),
    errors: z.array(FieldError).describe('Every failure at once'),
    ...MORE,
  })
  .meta({ id: 'ValidationError' })

export const RateLimitBody = z
  .object({
    status: z.literal(429),
    error: z.string(),
    message: z.string(),
    retryAfter: z.int().describe('Seconds'),
    ...MORE,
  })
  .meta({ id: 'TooManyRequests' })
