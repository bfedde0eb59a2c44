import { z } from 'zod'
import { Warning } from './envelope.ts'

/** The status of each error code. An error without a code of its own uses the HTTP reason phrase (D5). */
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
  CANNOT_KEEP: 409,
  MEMBER_LIMIT_REACHED: 409,
  NO_MAIL_SERVER: 409,
  SECRET_UNREADABLE: 409,
  ROW_LIMIT_REACHED: 409,
  STORAGE_LIMIT_REACHED: 409,
  Gone: 410,
  ORDER_EXPIRED: 410,
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

/** Further fields that any error may have. */
const OPTIONAL_FIELDS = {
  code: z.string().optional(),
  warnings: z.array(Warning).optional(),
  request_id: z.string().optional().describe('The id of the web agent run'),
}

export const ErrorBody = z
  .object({
    status: z.int(),
    error: z.string().describe('A named code, or the HTTP reason phrase'),
    message: z.string().describe('The problem and what to do about it'),
    ...OPTIONAL_FIELDS,
  })
  .meta({ id: 'Error' })

export const ValidationErrorBody = z
  .object({
    status: z.literal(400),
    error: z.literal('Validation Error'),
    message: z.string().describe('`<N> validation errors`'),
    errors: z.array(FieldError).describe('All errors of the request'),
    ...OPTIONAL_FIELDS,
  })
  .meta({ id: 'ValidationError' })

export const RateLimitBody = z
  .object({
    status: z.literal(429),
    error: z.string(),
    message: z.string(),
    retryAfter: z.int().describe('Seconds to wait'),
    ...OPTIONAL_FIELDS,
  })
  .meta({ id: 'TooManyRequests' })
