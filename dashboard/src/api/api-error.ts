import type { FieldError } from '#contract/errors.ts'

/** An error response of the server. Status 0 means that the server could not be reached. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  readonly fields: readonly FieldError[]
  readonly requestId: string | null

  constructor(
    message: string,
    rest: { status: number; code: string; fields?: FieldError[]; requestId?: string | null },
  ) {
    super(message)
    this.name = 'ApiError'
    this.status = rest.status
    this.code = rest.code
    this.fields = rest.fields ?? []
    this.requestId = rest.requestId ?? null
  }
}
