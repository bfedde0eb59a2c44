const Counts = {
  type: 'object',
  properties: {
    status: { type: 'integer' },
    data: { type: 'object', additionalProperties: true },
    warnings: { type: 'array', items: { $ref: '#/components/schemas/Warning' } },
  },
}
const failure = (description: string, schema = 'Error') => ({
  description,
  content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } },
})

/**
 * Describes the webhook receiver. It is not below the prefix of the API: knowing the address is enough, no
 * key is needed (D10).
 */
export const WEBHOOK_RECEIVER = {
  post: {
    operationId: 'deliverWebhook',
    tags: ['Webhooks'],
    summary: 'Deliver rows to the webhook of a sheet',
    description:
      'The address is in `webhook_url` of a sheet once its webhook is enabled. Accepts an object, or an array of objects, keyed by input name. With a `webhook-id` header each delivery is accepted once, however often it is sent.',
    security: [],
    parameters: [
      { in: 'path', name: 'token', required: true, schema: { type: 'string' } },
      { in: 'header', name: 'webhook-id', schema: { type: 'string' }, description: 'The id of the delivery' },
      { in: 'header', name: 'svix-id', schema: { type: 'string' }, description: 'The same as webhook-id' },
    ],
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: { type: ['object', 'array'], items: { type: 'object' } },
          example: { company: 'Stripe', website: 'https://www.stripe.com/about' },
        },
      },
    },
    responses: {
      200: { description: 'Accepted', content: { 'application/json': { schema: Counts } } },
      400: failure('No row was accepted; `errors` says why', 'ValidationError'),
      404: failure('No sheet has this address'),
      413: failure('The body is larger than this route accepts'),
      429: failure('Too many deliveries; `Retry-After` says when to come back'),
      503: failure('The database cannot be reached now; deliver again'),
    },
  },
}
