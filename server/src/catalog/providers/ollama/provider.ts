import { defineProvider } from '../../provider/provider.ts'

/** Models named `ollama/<name>`, over the API that they share with OpenAI. */
export const ollama = defineProvider({
  id: 'ollama',
  name: 'Ollama',
  evidence:
    'docs.ollama.com/openai (the API that it shares with OpenAI); named as where it is documented, November 2026',
  baseUrl: '',
  auth: { kind: 'none' },
  probe: { path: '/models' },
})
