import { defineBuiltIn } from '../../provider/provider.ts'

export const builtInWebsite = defineBuiltIn('built_in_website', 'Built-in website')
