#!/usr/bin/env bash
# What one GPU does with bertdata's shards and encoders, in about 10 minutes: BERT-base on rows of 128 and of 512, and
# ModernBERT-base on packed rows of 1,024, each with and without torch.compile, and in two arithmetics; the BERT-base of transformers on the same
# batches; how many rows of 512 fit. Tokens per second, MFU, memory, the share of time spent waiting for data; masks
# drawn on the GPU against those of the CPU, packed against padded rows; the loader alone.
#
#     runs/gpu.sh                              # writes gpu-run/report.md and gpu-run/report.json
#     DOCS="docs/gpu.md docs/howto/batch-size.md" runs/gpu.sh    # also puts the tables between markers of pages
#     DEVICE=cpu STEPS=3 runs/gpu.sh folder    # tries the same commands on a CPU, with tiny models, in a few minutes
#
#     ONLY="bert-512-fast modernbert-tokens-fast" runs/gpu.sh    # some of its runs, a minute or two each; later the others
#
# It needs an environment with ".[torch]" and transformers, and no network. Sizes: STEPS (of each length), BATCH (rows
# of 128, 512), PACKED_BATCH (rows of 1,024), ACCUMULATION (a batch in so many parts, for smaller GPUs), PARTS (the numbers
# of parts whose memory is compared), TEXT (files for `--documents` in place of the sample corpus). Run again, it keeps
# builds and finished runs; delete gpu-run/runs to measure anew.
set -euo pipefail
folder=$(mkdir -p "${1:-gpu-run}" && cd "${1:-gpu-run}" && pwd)
cd "$(dirname "$0")/.."
step() { printf '\n== %s (after %d s)\n' "$*" "$SECONDS"; }

# 1. The device. Without CUDA there is nothing to measure; DEVICE=cpu tries the commands at sizes that a CPU takes.
step "device"
device=${DEVICE:-cuda}
if [ "$device" = cpu ]; then
    bert=tiny modernbert=modernbert-tiny lengths="32 64" long=256
    steps=${STEPS:-3} batch=${BATCH:-8} packed=${PACKED_BATCH:-2} workers=0 copies=1 ways=(eager) logging=1
    sizes=(--config-overrides hidden_size=128 num_hidden_layers=2 num_attention_heads=2 intermediate_size=512)
    parts=${PARTS:-2}
    echo "on a CPU, with tiny models: the figures say nothing about a GPU"
else
    python -c "import torch" || { echo "torch is not installed; get it with: pip install '.[torch]'" >&2 && exit 2; }
    if ! python -c "import sys, torch; sys.exit(not torch.cuda.is_available())"; then
        echo "torch finds no CUDA device here; DEVICE=cpu $0 tries the same commands on a CPU" >&2
        exit 2
    fi
    bert=base modernbert=modernbert-base lengths="128 512" long=1024
    steps=${STEPS:-100} batch=${BATCH:-256} packed=${PACKED_BATCH:-64} workers=4 copies=50 ways=(eager compiled) logging=5
    sizes=() parts=${PARTS:-2 4 8}
    nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader || true
fi

# 2. Shards: the sample corpus in 50 copies, 3.4 million tokens, with the vocabularies that ship: pairs in rows of 128 and
#    512 for BERT, packed rows of 1,024 with 30% masked for ModernBERT. Half a minute, and the kernels are compiled.
step "build"
sources=() && [ -z "${TEXT:-}" ] || sources=(--documents "text=$TEXT") copies=1
# shellcheck disable=SC2086  # two lengths
bertdata build ${sources[@]+"${sources[@]}"} --vocab bertdata-30k-uncased --max-seq-length $lengths \
    --dupe-factor "$copies" --output "$folder/bert"
bertdata build ${sources[@]+"${sources[@]}"} --vocab bertdata-32k-bpe --max-seq-length "$long" --objective doc-chunks \
    --pack --masked-lm-prob 0.3 --dupe-factor "$copies" --output "$folder/modernbert"

# 3. Checks: masks of the GPU and of the CPU are the same bits; packed rows, which go through torch's attention for
#    sequences of any length, give the logits of padded ones up to bfloat16. A failure is in the report, and at the end.
step "checks"
failed=0
python benchmarks/gpu.py checks "$folder" --device "$device" || failed=1

# 4. Pretraining in bfloat16, as a user would start it. A build of two lengths is one run: half of the steps on short
#    rows, half on long ones. Compilation takes a minute or two at the first step of each shape; the report takes the
#    second half of the lines of each length. A run that fails leaves its message here and a line in the report.
names=()
pretrain() { # name, build, config, further flags
    local name=$1 build=$2 config=$3
    shift 3
    [[ -z "${ONLY:-}" || " $ONLY " == *" $name "* ]] || return 0
    names+=("$name")
    step "pretrain $name"
    bertdata pretrain "$folder/$build" --config "$config" --output "$folder/runs/$name" --bf16 --device "$device" \
        --num-workers "$workers" --logging-steps "$logging" --eval-steps 0 --save-steps 1000000 "$@" || failed=1
    tail -n 1 "$folder/runs/$name/log.jsonl" || true   # at once, should the machine be taken away
}
accumulation=(--gradient-accumulation-steps "${ACCUMULATION:-1}")

#    The most telling first: rows of 512 without dropout, whose attention is then that of flash attention, and packed rows
#    of one shape, each compiled, and in the arithmetic of --precision reference.
last=${ways[${#ways[@]} - 1]} filled=()
[ "$last" = eager ] || filled=(--compile)
for precision in fast reference; do
    pretrain "bert-512-$precision" "bert/${lengths#* }" "$bert" --max-steps "$steps" --batch-size "$batch" \
        "${accumulation[@]}" ${filled[@]+"${filled[@]}"} --precision "$precision" \
        --config-overrides hidden_dropout_prob=0 attention_probs_dropout_prob=0
    pretrain "modernbert-tokens-$precision" modernbert "$modernbert" --max-steps "$steps" --packing \
        --batch-tokens $((packed * long)) "${accumulation[@]}" ${filled[@]+"${filled[@]}"} --precision "$precision"
done
for way in "${ways[@]}"; do
    flags=() && [ "$way" = eager ] || flags=(--compile)
    pretrain "bert-$way" bert "$bert" --max-steps $((2 * steps)) --last-share 0.5 --batch-size "$batch" \
        "${accumulation[@]}" ${flags[@]+"${flags[@]}"}
    pretrain "modernbert-packed-$way" modernbert "$modernbert" --max-steps "$steps" --batch-size "$packed" --packing \
        "${accumulation[@]}" ${flags[@]+"${flags[@]}"}
done

# 5. Memory: the same batch of long rows in so many parts. Then the BERT of transformers on the same batches, in the last
#    number of parts, as it computes the logits of all tokens and so takes more memory: two runs to compare, eager both.
rows="bert/${lengths#* }" fewer=$((steps < 30 ? steps : steps / 3))
for part in $parts; do
    pretrain "bert-parts-$part" "$rows" "$bert" --max-steps "$fewer" --batch-size "$batch" \
        --gradient-accumulation-steps "$part"
done
pretrain "bert-transformers-parts-$part" "$rows" bert --library transformers --max-steps "$fewer" \
    --batch-size "$batch" --gradient-accumulation-steps "$part" ${sizes[@]+"${sizes[@]}"}

# 6. Report. MFU is the share of the device's peak in bfloat16 (Chowdhery et al. 2022, appendix B), which is known by name
#    for some GPUs. BERT-base needs 0.55 GFLOP for a token: at 40% of an H200's 989 TFLOP/s, 0.7 million tokens/s.
step "report"
# shellcheck disable=SC2086  # several pages
python benchmarks/gpu.py report "$folder" "${names[@]}" --device "$device" --rows "$batch" ${DOCS:+--docs $DOCS}
step "done"
exit "$failed"
