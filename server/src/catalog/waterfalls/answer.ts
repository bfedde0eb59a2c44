import { exaAnswer } from '../providers/exa/answer.ts'
import { linkupAnswer } from '../providers/linkup/answer.ts'
import { perplexityAnswer } from '../providers/perplexity/answer.ts'
import { tavilyAnswer } from '../providers/tavily/answer.ts'

/** The providers that answer questions from the web, in default order. */
export const ANSWERERS = [perplexityAnswer, linkupAnswer, exaAnswer, tavilyAnswer]
