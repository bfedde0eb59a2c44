/** The model's reply in one turn: text, calls of tools, or a refusal of the server. */
export type ChatReply = SpokenReply | { status: number; message: string }
export type SpokenReply =
  | { says: string }
  | { calls: { name: string; input: Record<string, unknown> }[]; says?: string }

export type ChatMessage = { role: string; content: string | null; tool_calls?: unknown[] }
export type ChatBody = {
  messages: ChatMessage[]
  tools?: unknown[]
  response_format?: unknown
}

/** Prints a turn as an OpenAI-compatible server sends it. */
export function printTurn(
  reply: SpokenReply,
  tokens: { input: number; output: number } = { input: 100, output: 10 },
) {
  const calls = 'calls' in reply ? reply.calls : []
  const message = {
    role: 'assistant',
    content: reply.says ?? null,
    ...(calls.length === 0
      ? {}
      : {
          tool_calls: calls.map(({ name, input }, n) => ({
            id: `call_${n}_${Math.random().toString(36).slice(2)}`,
            type: 'function',
            function: { name, arguments: JSON.stringify(input) },
          })),
        }),
  }
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'scripted',
    choices: [{ index: 0, message, finish_reason: calls.length === 0 ? 'stop' : 'tool_calls' }],
    usage: {
      prompt_tokens: tokens.input,
      completion_tokens: tokens.output,
      total_tokens: tokens.input + tokens.output,
    },
  }
}
