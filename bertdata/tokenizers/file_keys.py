"""What each key of a tokenizer's files is for: one table, which a test holds against the installed libraries.

A key is used, or has no effect on ids and rows, or builds a tokenizer of a bare vocabulary (so that a `tokenizer.json`
has done already what it says). A key that the table lacks is refused by its name, for it may decide ids.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any

from bertdata.errors import InputError, shortened
from bertdata.tokenizers.ids import reading_json

REMEDY = (
    "open the folder with transformers and save it: a fast tokenizer (is_fast) writes a tokenizer.json, which is read; "
    "a class in Python alone, as PhoBERT's, writes none and cannot be used here"
)
"""What to do about a tokenizer that is not read."""


class Use(Enum):
    """What a key is for."""

    USED = "used"
    NO_EFFECT = "without effect on ids and rows"
    BUILDS = "builds a tokenizer of a bare vocabulary, without effect beside a tokenizer.json"
    REFUSED = "refused unless it has the value that SentencePiece has where nothing is said"


def _all(names: str, use: Use) -> dict[str, Use]:
    return dict.fromkeys(names.split(), use)


CONFIG_KEYS = (
    _all(
        """
    add_bos_token add_eos_token add_prefix_space added_tokens_decoder additional_special_tokens bos_token
    clean_up_tokenization_spaces clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output
    cls_token do_lower_case dropout eos_token extra_special_tokens fix_mistral_regex longest_row mask_token
    max_len model_input_names model_max_length model_specific_special_tokens pad_token padding_side sep_token
    sp_model_kwargs split_by_punct src_lang strip_accents tgt_lang tokenize_chinese_chars tokenizer_class
    truncation_side unk_token
        """,
        Use.USED,
    )
    | _all(
        """
    __slow_tokenizer _commit_hash _from_auto _from_pipeline _json_padding _json_truncation
    _spm_precompiled_charsmap auto_map backend cache_dir cell_trim_length chat_control_tokens
    chat_template cls_token_box code_revision config
    default_velocity description device_map do_rescale entity_token_1 entity_token_2 entity_vocab
    entity_vocab_file errors files_loaded force_download from_slow full_tokenizer_file generator gguf_file
    grounded_generation_template ids_to_tokens image_processor_type init_inputs init_kwargs is_local
    is_split_into_words license local_files_only mask_padding_with_zero max_column_id max_depth
    max_entity_length max_length max_mention_length max_question_length max_row_id max_seq_length max_width
    merges merges_file min_question_length mirror mode model_name model_type name name_or_path num_bars
    only_label_first_subword pad_to_multiple_of pad_token_box pad_token_label pad_token_type_id pad_width
    padding post_processor processor_class proxies question_encoder response_schema response_template
    resume_download return_attention_mask return_length return_offsets_mapping return_overflowing_tokens
    return_special_tokens_mask return_tensors return_token_type_ids revision sep_token_box source_lang
    spaces_between_special_tokens special_tokens special_tokens_map_file special_tokens_pattern
    split_special_tokens stride strip_column_names subfolder tags_dict target_lang task token
    token_type_ids_include_special_tokens token_type_ids_pattern tokenizer tokenizer_file tokenizer_object
    tokenizer_padding tokenizer_path tokenizer_truncation tokenizer_type tool_use_template torch_dtype
    transformers_version trim_offsets truncation truncation_strategy trust_remote_code update_answer_coordinates
    use_auth_token use_default_system_prompt use_fast use_fast_bert_tokenizer verbose vocab vocab_file
    vocab_list vocab_size vocab_type
        """,
        Use.NO_EFFECT,
    )
    | _all(
        """
    add_blank clean_text cls_token_id do_basic_tokenize do_clean_text do_lowercase
    do_lowercase_and_remove_accent do_normalize do_phonemize do_split_on_punc do_subword_tokenize do_upper_case
    do_word_tokenize emoji emoji_file extra_ids id2lang is_uroman jumanpp_kwargs keep_accents lang2id lang_codes
    langs language language_codes legacy legacy_behaviour mask_token_sent max_input_chars_per_word mecab_dic
    mecab_kwargs mecab_option monolingual_vocab_file never_split normalization normalize normalize_text
    normalizer_file num_madeup_words offset pad_token_id phonemize phonemizer_backend phonemizer_lang
    predict_timestamps preserve_case reduce_len remove_space replace_word_delimiter_char sep_token_id
    separate_vocabs should_strip_spaces source_spm spm_file src_vocab_file strip_handles subword_tokenizer_type
    sudachi_config_path sudachi_dict_type sudachi_kwargs sudachi_projection sudachi_resource_dir
    sudachi_split_mode suffix_first target_spm target_vocab_file tgt_vocab_file trim_whitespace unk_id
    word_pronunciation_file word_shape_file word_tokenizer_type wordpieces_prefix
        """,
        Use.BUILDS,
    )
)
"""The keys of `tokenizer_config.json`: arguments of the tokenizer classes of transformers 4.57 and 5.24, and what
`from_pretrained` and older versions leave in the file. Further keys that end in `_token` name special tokens: used."""
SPECIAL_KEYS = _all(
    "additional_special_tokens extra_special_tokens bos_token eos_token unk_token sep_token pad_token cls_token "
    "mask_token",
    Use.USED,
)
"""The keys of `special_tokens_map.json`; others that end in `_token` as well."""
FILE_KEYS = _all("version added_tokens normalizer pre_tokenizer post_processor model", Use.USED) | _all(
    "truncation padding decoder", Use.NO_EFFECT
)
"""The keys of `tokenizer.json`; truncation and padding are given with each call, and the decoder is for `decode`."""
ADDED_KEYS = frozenset({"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"})
"""The keys of an added token in `tokenizer.json`."""
PART_KEYS: dict[str, dict[str, str]] = {
    "normalizer": {
        "BertNormalizer": "clean_text handle_chinese_chars strip_accents lowercase",
        "ByteLevel": "",
        "Lowercase": "",
        "NFC": "",
        "NFD": "",
        "NFKC": "",
        "NFKD": "",
        "Nmt": "",
        "Precompiled": "precompiled_charsmap",
        "Prepend": "prepend",
        "Replace": "pattern content",
        "Sequence": "normalizers",
        "Strip": "strip_left strip_right",
        "StripAccents": "",
    },
    "pre_tokenizer": {
        "BertPreTokenizer": "",
        "ByteLevel": "add_prefix_space trim_offsets use_regex",
        "CharDelimiterSplit": "delimiter",
        "Digits": "individual_digits",
        "FixedLength": "length",
        "Metaspace": "replacement prepend_scheme split add_prefix_space str_rep",
        "Punctuation": "behavior",
        "Sequence": "pretokenizers",
        "Split": "pattern behavior invert",
        "UnicodeScripts": "",
        "Whitespace": "",
        "WhitespaceSplit": "",
    },
    "post_processor": {
        "BertProcessing": "sep cls",
        "ByteLevel": "add_prefix_space trim_offsets use_regex",
        "RobertaProcessing": "sep cls trim_offsets add_prefix_space",
        "Sequence": "processors",
        "TemplateProcessing": "single pair special_tokens",
    },
    "model": {
        "BPE": "dropout unk_token continuing_subword_prefix end_of_word_suffix fuse_unk byte_fallback ignore_merges "
        "vocab merges",
        "Unigram": "unk_id vocab byte_fallback",
        "WordLevel": "vocab unk_token",
        "WordPiece": "unk_token continuing_subword_prefix max_input_chars_per_word vocab",
    },
}
"""The keys of the parts of `tokenizer.json`, by their types; `add_prefix_space` and `str_rep` of Metaspace are old."""
SPM_FIELDS: dict[str, dict[int, tuple[str, Use]]] = {
    "TrainerSpec": {
        3: ("model_type", Use.USED),
        24: ("treat_whitespace_as_suffix", Use.USED),
        35: ("byte_fallback", Use.USED),
        **{
            number: (name, Use.USED)
            for number, name in enumerate(("unk_id", "bos_id", "eos_id", "pad_id"), start=40)
        },
        **{
            number: (name, Use.USED)
            for number, name in enumerate(("unk_piece", "bos_piece", "eos_piece", "pad_piece"), start=45)
        },
        **{
            number: (name, Use.NO_EFFECT)
            for number, name in {
                1: "input", 2: "model_prefix", 4: "vocab_size", 5: "accept_language", 6: "self_test_sample_size",
                7: "input_format", 10: "character_coverage", 11: "input_sentence_size", 12: "mining_sentence_size",
                13: "training_sentence_size", 14: "seed_sentencepiece_size", 15: "shrinking_factor", 16: "num_threads",
                17: "num_sub_iterations", 18: "max_sentence_length", 19: "shuffle_input_sentence",
                20: "max_sentencepiece_length", 21: "split_by_unicode_script", 22: "split_by_whitespace",
                23: "split_by_number", 25: "split_digits", 26: "allow_whitespace_only_pieces", 30: "control_symbols",
                31: "user_defined_symbols", 32: "vocabulary_output_piece_score", 33: "hard_vocab_limit",
                34: "use_all_vocab", 36: "required_chars", 44: "unk_surface", 49: "train_extremely_large_corpus",
                50: "enable_differential_privacy", 51: "differential_privacy_noise_level",
                52: "differential_privacy_clipping_threshold", 53: "pretokenization_delimiter",
                54: "seed_sentencepieces_file", 55: "auto_character_coverage",
            }.items()
        },
    },
    "NormalizerSpec": {
        1: ("name", Use.NO_EFFECT),
        2: ("precompiled_charsmap", Use.USED),
        3: ("add_dummy_prefix", Use.USED),
        4: ("remove_extra_whitespaces", Use.USED),
        5: ("escape_whitespaces", Use.REFUSED),
        6: ("normalization_rule_tsv", Use.NO_EFFECT),
        7: ("field 7 of DeBERTa-v3's model, which SentencePiece does not know", Use.NO_EFFECT),
    },
    "ModelProto": {
        1: ("pieces", Use.USED),
        2: ("trainer_spec", Use.USED),
        3: ("normalizer_spec", Use.USED),
        4: ("self_test_data", Use.NO_EFFECT),
        5: ("denormalizer_spec", Use.NO_EFFECT),
    },
}  # fmt: skip
"""The fields of SentencePiece's `ModelProto`. Many say how a model was trained; what came of it is in the pieces, as of
`split_by_whitespace`, which shows in pieces that reach over spaces, and of the rules, which are in the charsmap."""
_SAME_AS_BERT: dict[str, tuple[Any, ...]] = {
    "do_basic_tokenize": (True,),
    "do_subword_tokenize": (True,),
    "do_word_tokenize": (True,),
    "word_tokenizer_type": ("basic",),
    "subword_tokenizer_type": ("wordpiece",),
    "clean_text": (True,),
    "wordpieces_prefix": ("##",),
    "max_input_chars_per_word": (100,),
    "remove_space": (True,),
    "keep_accents": (True,),
    "legacy": (True,),
    "legacy_behaviour": (True,),
}
"""Values of keys that build a tokenizer which say what is done anyway; so does a value that is nothing or false."""
_OF_TOKENS = ("_token", "_token_id")
_ALWAYS_FREE = frozenset({"unk_id", "keep_accents"})


def check_config(config: Mapping[str, Any], name: str, keys: Mapping[str, Use] = CONFIG_KEYS) -> None:
    """Raise InputError, naming it, for a key of a file of settings that is not in the table.

    >>> check_config({"model_max_length": 512, "ent_token": "<ent>"}, "tokenizer_config.json")
    """
    for key, value in config.items():
        if key not in keys and not key.endswith(_OF_TOKENS):
            raise InputError(
                f"{name} says {key} = {shortened(value)}, and it is not known whether that decides ids; expected keys "
                "of transformers: delete it if it does not, or open the folder with the class that knows it and save "
                "it anew"
            )


def check_bare(config: Mapping[str, Any], name: str) -> None:
    """Raise InputError where settings beside a bare vocabulary ask for another tokenizer than it alone does."""
    for key, value in config.items():
        usual = _SAME_AS_BERT.get(key, ())
        builds = CONFIG_KEYS.get(key) is Use.BUILDS and key not in _ALWAYS_FREE and not key.endswith(_OF_TOKENS)
        if builds and value and value not in usual:
            raise InputError(
                f"{name} says {key} = {shortened(value)}, which is not done here with a bare vocabulary; " + REMEDY
            )


def check_file(data: Mapping[str, Any]) -> None:
    """Raise InputError for a key of a `tokenizer.json` that is not in the table, at any depth."""
    _expect(data, FILE_KEYS, "")
    with reading_json("is not a whole tokenizer.json"):
        for entry in data.get("added_tokens") or ():
            _expect(entry, ADDED_KEYS, f" of the added token {shortened(entry['content'])}")
        for part in ("normalizer", "pre_tokenizer", "post_processor"):
            for each in _parts(data.get(part)):
                kind = each.get("type")
                if kind in PART_KEYS[part]:
                    _expect(each, ["type", *PART_KEYS[part][kind].split()], f" of its {part} {kind}")
        model = data["model"]
        kinds = PART_KEYS["model"]
        of_kind = kinds.get(model.get("type"), " ".join(kinds.values()))
        _expect(model, ["type", *of_kind.split()], " of its model")


def _parts(part: Any) -> Iterable[Mapping[str, Any]]:
    """Yield a part of a pipeline and, of a sequence, those in it."""
    if not isinstance(part, Mapping):
        return
    yield part
    if part.get("type") == "Sequence":
        for key in ("normalizers", "pretokenizers", "processors"):
            for inner in part.get(key) or ():
                yield from _parts(inner)


def _expect(entry: Mapping[str, Any], keys: Iterable[str], where: str) -> None:
    if others := [key for key in entry if key not in {*keys}]:
        raise InputError(
            f"the key {others[0]!r}{where} is not known, and may decide ids; tokenizers passes over it: delete it if "
            "it does not, or use the version of bertdata for the version of tokenizers that wrote it"
        )
