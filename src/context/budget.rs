//! The budget: available = window - system - tools - reserve.

use serde::Serialize;

/// The division of a window, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Budget {
    /// The model's limit.
    pub model_context_window: u32,
    /// The cost of the system prompt.
    pub system_prompt_tokens: u32,
    /// The cost of the tool definitions.
    pub tool_definition_tokens: u32,
    /// Reserved for the answer.
    pub reserve_for_response: u32,
    /// The rest, for the conversation.
    pub available_tokens: u32,
}

impl Budget {
    /// Returns the division of the same window, all of which is available again.
    pub(super) fn before_cut(&self) -> Budget {
        calculate(
            self.model_context_window,
            self.system_prompt_tokens,
            self.tool_definition_tokens,
            Some(self.reserve_for_response),
        )
    }

    /// Returns so many thousandths of what is available.
    pub(super) fn share(&self, thousandths: u32) -> u32 {
        (u64::from(self.available_tokens) * u64::from(thousandths) / 1000) as u32
    }
}

/// Divides a window. The reserve is a quarter of it by default.
pub fn calculate(window: u32, system: u32, tools: u32, reserve: Option<u32>) -> Budget {
    let reserve_for_response = reserve.unwrap_or(window / 4);
    let taken = system.saturating_add(tools).saturating_add(reserve_for_response);
    Budget {
        model_context_window: window,
        system_prompt_tokens: system,
        tool_definition_tokens: tools,
        reserve_for_response,
        available_tokens: window.saturating_sub(taken),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_the_window_less_all_that_is_taken_and_never_less_than_nothing() {
        assert_eq!(calculate(8001, 500, 100, None).available_tokens, 8001 - 500 - 100 - 2000);
        assert_eq!(calculate(8000, 0, 0, Some(0)).available_tokens, 8000);
        assert_eq!(calculate(1000, 900, u32::MAX, None).available_tokens, 0);
    }
}
